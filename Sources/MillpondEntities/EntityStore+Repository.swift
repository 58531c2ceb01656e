public import MillpondCore
import MillpondSignals

extension Repository {
  /// Adds a store of entities, of which a clear removes everything.
  ///
  /// - Parameters:
  ///   - store: The store to add.
  ///   - name: A name that no other member has.
  /// - Throws: `CacheError.nameTaken(name:)` if another member has that name;
  ///   `CacheError.shutDown` after `Repository.shutDown(deadline:)`.
  public func add(_ store: EntityStore, named name: String) throws {
    try add(
      RepositoryMember(removeAll: {
        store.removeAll()
        return .just(())
      }), named: name)
  }
}
