/// Where values are kept on disk: our cache, or what it is compared with.
protocol DiskShelf: Sendable {
  /// Keeps nothing yet, and makes nothing.
  ///
  /// - Parameter folder: Of this shelf alone.
  init(folder: String)

  /// Empties it, or makes it.
  func renew() throws

  /// Keeps all, and waits until they are written.
  func put(_ goods: Goods) throws

  /// Asks for each once, in disorder; what came, added up.
  func get(_ goods: Goods) throws -> Int

  /// Asks of each, in disorder, whether it is there; how many are.
  func contains(_ goods: Goods) throws -> Int

  /// Forgets all that was put, and waits until that is so on disk.
  func remove(_ goods: Goods) throws

  /// How many are kept.
  func count() throws -> Int

  /// Lets go of its files, and leaves them as they are.
  func close() throws
}
