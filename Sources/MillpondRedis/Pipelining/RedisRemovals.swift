import MillpondCore
import MillpondSignals
import Synchronization

/// The removals of many keys by this process.
final class RedisRemovals: Sendable {
  /// A removal that is being carried out.
  struct Removal: Sendable {
    let predicate: KeyPredicate<String>
    let revision: Revision

    /// Keeps the later writes of single keys from being forgotten meanwhile.
    let pending: PendingWrite

    /// The failure of a later write, to which the removal may have left its key.
    let failure = Locked<RedisError?>(nil)
  }

  /// All removals: earlier writes, and fills of gets that began before, are compared with them also
  /// after their end.
  let all = RemovalsByPredicate<String>()

  private let running = Locked(Registry<Removal>())
  private let runningCount = AtomicValue(0)
  private let begunCount = AtomicValue(0)

  /// The number of removals that have begun.
  ///
  /// Whoever compares a key with them notes it before, and compares again if it has grown by the
  /// time the command is submitted.
  var begun: Int { begunCount.load(ordering: .acquiring) }

  /// Begins a removal, which gets see from here on.
  func begin(_ predicate: KeyPredicate<String>, _ revision: Revision) -> (Int, Removal) {
    let removal = Removal(
      predicate: predicate, revision: revision, pending: PendingWrite(revision))
    _ = all.add(predicate, revision)
    runningCount.add(1, ordering: .sequentiallyConsistent)
    let number = running.withLock { $0.add(removal) }
    begunCount.add(1, ordering: .sequentiallyConsistent)
    return (number, removal)
  }

  func end(_ number: Int) {
    let removal = running.withLock { $0.remove(number) }
    removal?.pending.end()
    runningCount.subtract(1, ordering: .sequentiallyConsistent)
  }

  /// Returns the running removals that concern a key, if it was not written later.
  ///
  /// Calls users' predicates.
  func concerning(_ key: String) -> [Removal] {
    if runningCount.load(ordering: .acquiring) == 0 { return [] }
    return running.withLock { Array($0.elements) }.filter { $0.predicate.isSatisfied(by: key) }
  }
}

extension [RedisRemovals.Removal] {
  /// Whether one of them was called after the last write of its key, and so counts as done.
  func haveRemoved(_ lastWrite: Revision) -> Bool { contains { $0.revision >= lastWrite } }
}
