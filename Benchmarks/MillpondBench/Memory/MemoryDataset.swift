/// The keys and values of some rows: made once, before anything is measured, and kept until after.
///
/// The instances that are looked up are the stored ones, objects too, as in our peers' own
/// benchmarks: equal strings then compare equal by their address.
///
/// Sendable because nothing changes it, and Foundation's immutable objects may be read by any
/// thread.
final class MemoryDataset<Key: BenchKey>: @unchecked Sendable {
  /// The number of values.
  let size: Int

  /// Those that are kept, then those that aren't; the value of each is its index.
  let keys: [Key]

  let objects: [Key.Object]
  let numberObjects: [NumberObject]

  init(size: Int, strangers: Int) {
    self.size = size
    keys = (0..<(size + strangers)).map(Key.numbered)
    objects = keys.map(\.object)
    numberObjects = keys.indices.map(NumberObject.init)
  }
}

/// A value as an object.
final class NumberObject: Sendable {
  let number: Int

  init(_ number: Int) {
    self.number = number
  }
}
