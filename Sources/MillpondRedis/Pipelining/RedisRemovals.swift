import MillpondCore
import MillpondSignals
import Synchronization

/// The removals of many keys that are being carried out.
final class RedisRemovals: Sendable {
  struct Removal: Sendable {
    let predicate: KeyPredicate<String>
    let revision: Revision

    /// Keeps the later writes of single keys from being forgotten meanwhile.
    let pending: PendingWrite

    /// The answers that decide whether it succeeds.
    let replies: CombinedReplies
  }

  private let running = Locked(Registry<Removal>())
  private let count = AtomicValue(0)

  /// Fills of gets that began before a removal are compared with it also after its end.
  private let ended = KeyRemovals<String>()

  /// Begins a removal, which gets see from here on.
  ///
  /// - Returns: The number of the removal, and its mark for the orders of the connections.
  func begin(
    _ predicate: KeyPredicate<String>, _ revision: Revision, _ replies: CombinedReplies
  ) -> (number: Int, mark: RemovalMark) {
    let removal = Removal(
      predicate: predicate, revision: revision, pending: PendingWrite(revision), replies: replies)
    let mark = ended.add(predicate, revision)
    count.add(1, ordering: .sequentiallyConsistent)
    return (running.withLock { $0.add(removal) }, mark)
  }

  func end(_ number: Int) {
    let removal = running.withLock { $0.remove(number) }
    removal?.pending.end()
    count.subtract(1, ordering: .sequentiallyConsistent)
  }

  /// Returns the revisions of the running removals that concern a key, if it was not written later.
  ///
  /// Calls users' predicates.
  func candidates(for key: String) -> [Revision] { concerning(key).map(\.revision) }

  /// Returns the running removals that concern a key, if it was not written later.
  ///
  /// Calls users' predicates.
  func concerning(_ key: String) -> [Removal] {
    if count.load(ordering: .acquiring) == 0 { return [] }
    return running.withLock { Array($0.elements) }.filter { $0.predicate.isSatisfied(by: key) }
  }

  /// Compares a fill with the removals since its token was taken, as `KeyRemovals` does.
  func compare(_ key: String, _ token: FillToken) -> Int? { ended.compare(key, token) }

  /// Compares a write with the later removals, as `KeyRemovals` does.
  func compare(_ key: String, _ revision: Revision) -> Int? { ended.compare(key, revision) }

  /// Forgets the removals before one of all keys.
  func forget(upTo revision: Revision) { ended.forget(upTo: revision) }
}
