/// Where values are kept: our cache, or what it is compared with.
///
/// Generic code over it is specialised for each, so that none pays for being one of several.
protocol Shelf<Plain>: Sendable {
  /// The key as Swift has it.
  associatedtype Plain: BenchKey

  associatedtype Key
  associatedtype Value

  /// Keeps at most `limit` values, if it has a policy at all.
  init(limit: Int)

  func number(for key: Key) -> Int?
  func keep(_ value: Value, for key: Key)

  /// How many of the keys are kept, where these are all that ever were.
  func count(among keys: [Key]) -> Int

  static func keys(_ ground: Ground<Plain>) -> [Key]
  static func values(_ ground: Ground<Plain>) -> [Value]
}

extension Shelf where Key == Plain, Value == Int {
  static func keys(_ ground: Ground<Plain>) -> [Plain] {
    ground.keys
  }

  static func values(_ ground: Ground<Plain>) -> [Int] {
    Array(ground.keys.indices)
  }
}
