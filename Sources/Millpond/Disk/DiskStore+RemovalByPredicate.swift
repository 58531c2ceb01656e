import Dispatch
import MillpondCore
import MillpondSignals
import Synchronization

extension DiskStore {
  /// Removes the values of all keys that satisfy the predicate and were not written later.
  ///
  /// Gets miss them at once; the outcome succeeds when the removals are on disk. The index has no
  /// keys, and does not list every value: of evicted ones, and of those whose removal failed, the
  /// records may still be there. So all records are read, while other writes are carried out.
  func removeMatching(
    _ predicate: KeyPredicate<String>, _ revision: Revision
  ) -> Signal<Void> {
    let place = removals.add(predicate, revision)
    let end = Promise<Void>()
    let number = running.add(
      RunningRemoval(predicate: predicate, revision: revision, outcome: end.outcome))
    state.withLock { $0.index.writes.noteRemoval(revision, place) }
    // After all earlier writes, so that the keys of their values are in records.
    afterWriting {
      let parts = self.writer.parts
      SerialQueue(label: "millpond.disk.searching").async {
        let (keys, failure) = LogContents.keys(in: parts) { predicate.isSatisfied(by: $0) }
        var outcomes = keys.map { self.remove($0, revision) }
        if let failure { outcomes.append(.fail(CacheError(disk: failure, self.folder))) }
        let outcome = WriteOutcome.all(outcomes)
        // Behind the removals, so that a flush waits for them.
        self.afterWriting {
          self.running.remove(number)
          self.outcomes.async { end.keep(by: outcome) }
        }
      }
    }
    return end.outcome
  }

  /// Calls `done` on the writing queue when all earlier writes are done, and all removals by predicate
  /// that have begun by now.
  func afterRemovals(_ done: @escaping @Sendable () -> Void) {
    let outcomes = running.outcomes
    if outcomes.isEmpty { return afterWriting(done) }
    WriteOutcome.all(outcomes).subscribe { event in
      if event.isTerminal { self.afterWriting(done) }
    }
  }
}

extension LogContents {
  /// Returns the keys that have values in parts of the log and satisfy a predicate, and the first
  /// error by which a segment could not be read; the others are read even so.
  ///
  /// The segments may be removed meanwhile.
  fileprivate static func keys(
    in parts: [Part], where isIncluded: (String) -> Bool
  ) -> (keys: [String], failure: (any Error)?) {
    var found: [KeyHash: (key: String, position: LogPosition)] = [:]
    var failure: (any Error)?
    for part in parts {
      do {
        let reader = try SegmentReader(part.segment, from: 0, to: part.size)
        while let step = try reader.next() {
          guard case .record(let offset, let record) = step else { continue }
          switch record.head.kind {
          case .value, .file:
            let key = String(decoding: record.key, as: UTF8.self)
            let position = record.location(segment: part.segment.number, offset).position
            if isIncluded(key) { found[KeyHash(record.key)] = (key, position) }
          case .removal: found[KeyHash(record.key)] = nil
          case .removalOfAll:
            let survivors = record.survivors
            found = found.filter { survivors.contains($0.value.position) }
          case .void: break
          }
        }
      } catch {
        failure = failure ?? error
      }
    }
    return (found.values.map(\.key), failure)
  }
}

/// A removal by predicate that has not reached all of its keys.
struct RunningRemoval: Sendable {
  let predicate: KeyPredicate<String>
  let revision: Revision
  let outcome: Signal<Void>
}

/// The removals by predicate that run, so that gets miss what they have not reached.
final class RunningRemovals: Sendable {
  private let running = Locked(Registry<RunningRemoval>())

  /// The number of running removals.
  private let count = AtomicValue<Int>(0)

  var outcomes: [Signal<Void>] { running.withLock { $0.elements.map(\.outcome) } }

  func add(_ removal: RunningRemoval) -> Int {
    running.withLock { running in
      defer { count.store(running.elements.count, ordering: .releasing) }
      return running.add(removal)
    }
  }

  func remove(_ number: Int) {
    running.discard { running in
      defer { count.store(running.elements.count, ordering: .releasing) }
      return running.remove(number)
    }
  }

  /// Returns the latest running removal that concerns a key; calls users' predicates.
  func last(of key: String) -> Revision {
    if count.load(ordering: .acquiring) == 0 { return .none }
    let removals = running.withLock { Array($0.elements) }
    return removals.filter { $0.predicate.isSatisfied(by: key) }.map(\.revision).max() ?? .none
  }
}
