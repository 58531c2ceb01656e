/// A store of values on disk: our cache, or one that it is compared with.
protocol DiskContender: Sendable {
  /// Creates a contender, and nothing on disk yet.
  ///
  /// - Parameter folder: The folder of this contender alone.
  init(folder: String)

  /// Empties the contender, or creates it on disk.
  func renew() throws

  /// Stores all values, and waits until they are written.
  func put(_ dataset: DiskDataset) throws

  /// Gets each value once, in disorder, and returns the sum of their glances.
  func get(_ dataset: DiskDataset) throws -> Int

  /// Looks up each value, in disorder, and returns the number of those found.
  func contains(_ dataset: DiskDataset) throws -> Int

  /// Removes all values, and waits until they are removed on disk.
  func remove(_ dataset: DiskDataset) throws

  /// Returns the number of values.
  func count() throws -> Int

  /// Closes the files, and leaves their contents.
  func close() throws
}
