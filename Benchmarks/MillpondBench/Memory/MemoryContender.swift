/// A store of values: our cache, or one that it is compared with.
///
/// Generic code is specialised for each contender, so that none pays for the abstraction.
protocol MemoryContender<Plain>: Sendable {
  /// The key as Swift has it.
  associatedtype Plain: BenchKey

  associatedtype Key
  associatedtype Value

  /// Keeps at most `limit` values, if it has a policy at all.
  init(limit: Int)

  func number(for key: Key) -> Int?
  func keep(_ value: Value, for key: Key)

  /// Returns the number of stored keys among all that were ever used.
  func count(among keys: [Key]) -> Int

  static func keys(_ dataset: MemoryDataset<Plain>) -> [Key]
  static func values(_ dataset: MemoryDataset<Plain>) -> [Value]
}

extension MemoryContender where Key == Plain, Value == Int {
  static func keys(_ dataset: MemoryDataset<Plain>) -> [Plain] {
    dataset.keys
  }

  static func values(_ dataset: MemoryDataset<Plain>) -> [Int] {
    Array(dataset.keys.indices)
  }
}
