import MillpondCore
import MillpondSignals
import Synchronization

/// A removal by predicate on its way through the log.
///
/// The index has no keys, and does not list every value: of evicted ones, and of those whose
/// removal failed, the records may still be there. So all records that there are at the beginning
/// are read. The log may grow and lose segments meanwhile.
///
/// Sendable because its mutable state is used only on the writing queue.
final class DiskRemoval: @unchecked Sendable {
  let predicate: KeyPredicate<String>
  let revision: Revision

  private var parts: ArraySlice<LogContents.Part> = []
  private var reader: SegmentReader?

  /// The latest values of keys that satisfy the predicate.
  private var found: [KeyHash: (key: String, position: LogPosition)] = [:]
  private let promise = Promise<Void>()

  /// The first error by which a segment could not be read; the others are read even so.
  private var failure: (any Error)?

  /// The number of bytes that a step reads.
  private static let stepSize = 262_144

  init(_ predicate: KeyPredicate<String>, _ revision: Revision) {
    self.predicate = predicate
    self.revision = revision
  }

  var outcome: Signal<Void> { promise.outcome }

  /// The keys that have values.
  var keys: some Sequence<String> { found.values.lazy.map(\.key) }

  func begin(in parts: [LogContents.Part]) { self.parts = parts[...] }

  /// Reads the next records; false if there are no more.
  func step() -> Bool {
    guard let part = parts.first else { return false }
    do {
      let reader = try reader ?? SegmentReader(part.segment, from: 0, to: part.size)
      self.reader = reader
      let goesOn = try reader.step(Self.stepSize) { offset, record in
        note(record, at: record.location(segment: part.segment.number, offset).position)
      }
      if goesOn { return true }
    } catch {
      failure = failure ?? error
    }
    reader = nil
    parts.removeFirst()
    return !parts.isEmpty
  }

  private func note(_ record: Record, at position: LogPosition) {
    switch record.head.kind {
    case .value, .file:
      let key = String(decoding: record.key, as: UTF8.self)
      if predicate.isSatisfied(by: key) { found[KeyHash(record.key)] = (key, position) }
    case .removal: found[KeyHash(record.key)] = nil
    case .removalOfAll:
      let survivors = record.survivors
      found = found.filter { survivors.contains($0.value.position) }
    case .void: break
    }
  }

  /// Ends the removal.
  ///
  /// - Parameters:
  ///   - outcomes: The outcomes of the removals of all keys.
  ///   - folder: The folder, for the error.
  func end(_ outcomes: [Signal<Void>], in folder: Folder) {
    let failure = failure.map { Signal<Void>.fail(CacheError(disk: $0, folder)) }
    promise.keep(by: WriteOutcome.all(outcomes + [failure].compactMap { $0 }))
  }
}

/// The removals by predicate that run, so that gets miss what they have not reached.
final class PredicateRemovals: Sendable {
  private let running = Locked(Registry<DiskRemoval>())

  /// The number of running removals.
  private let count = AtomicValue<Int>(0)

  /// The number of the latest running removal; zero if there is none.
  var lastNumber: Int { running.withLock { $0.latestNumber } }

  func isAny(upTo number: Int) -> Bool {
    running.withLock { $0.isAny(upTo: number) }
  }

  func add(_ removal: DiskRemoval) -> Int {
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
