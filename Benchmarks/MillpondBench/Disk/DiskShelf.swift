/// A store of values on disk: our cache, or one that it is compared with.
protocol DiskShelf: Sendable {
  /// Keeps nothing yet, and makes nothing.
  ///
  /// - Parameter folder: The folder of this shelf alone.
  init(folder: String)

  /// Empties it, or makes it.
  func renew() throws

  /// Keeps all, and waits until they are written.
  func put(_ goods: Goods) throws

  /// Gets each value once, in disorder, and returns the sum of their glances.
  func get(_ goods: Goods) throws -> Int

  /// Looks up each value, in disorder, and returns the number of those found.
  func contains(_ goods: Goods) throws -> Int

  /// Removes all values, and waits until that is so on disk.
  func remove(_ goods: Goods) throws

  /// Returns the number of values.
  func count() throws -> Int

  /// Lets go of its files, and leaves them as they are.
  func close() throws
}
