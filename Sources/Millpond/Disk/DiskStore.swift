import Dispatch
import Foundation
import MillpondCore
import MillpondSignals

/// What all caches of one folder share: acts on what the index decides.
///
/// The index is ahead of the files: it is changed when something is told, and what then has to be
/// done to a file waits in the entry's lane. Each such job looks at the index first, so it does not
/// matter in which order two threads that tell at once get their jobs into the lane.
final class DiskStore: Sendable {
  let byteLimit: Int
  let path: String

  /// Where those who come are let in, in order: opening is the first thing that is done there.
  let entrance = DispatchQueue(label: "millpond.disk.entrance", autoreleaseFrequency: .workItem)

  private let opening = Locked<Result<Void, CacheError>?>(nil)
  private let files: EntryFiles
  private let index: Locked<DiskIndex>
  private let writing = Lanes("millpond.disk.writing", count: 4)
  private let reading = Lanes("millpond.disk.reading", count: 4)
  private let firstNumber = UInt64.random(in: 0 ... .max)

  /// - Parameter path: Of the folder, without links.
  init(path: String, byteLimit: Int) {
    self.path = path
    self.byteLimit = byteLimit
    files = EntryFiles(folder: Folder(path: path))
    index = Locked(DiskIndex(byteLimit: byteLimit))
  }

  /// Takes the folder and finds out what is in it, the first time.
  ///
  /// Blocks; only at the entrance.
  func open() throws(CacheError) {
    let result =
      opening.withLock { $0 } ?? Result { () throws(CacheError) in try takeFolder() }
    opening.withLock { $0 = result }
    try result.get()
  }

  private func takeFolder() throws(CacheError) {
    do {
      try files.folder.take()
      let found = try files.scan()
      let consequence = index.withLock { $0.load(found) }
      for name in consequence.removals { try? files.remove(name) }
    } catch {
      close()
      throw CacheError(disk: error)
    }
  }

  /// Lets go of the folder; what is told from now on fails.
  func close() {
    files.folder.letGo()
  }

  var count: Int {
    index.withLock { $0.count }
  }

  var totalBytes: Int {
    index.withLock { $0.totalBytes }
  }

  /// Calls `done` when everything that was told before is on disk.
  func flush(_ done: @escaping @Sendable () -> Void) {
    writing.runAll([], { _ in }, then: { _ in done() })
  }
}

// MARK: - Telling

extension DiskStore {
  func mark(for key: String) -> Mark {
    let name = EntryName(of: key)
    return .told(index.withLock { $0.lastTold(name) })
  }

  /// Takes a change in, at once, and calls `done` when it is on disk.
  func apply(
    _ change: Change<String, Data>, _ done: @escaping @Sendable (CacheError?) -> Void
  ) {
    switch change {
    case .set(let key, let value, let revision):
      let name = EntryName(of: key)
      let record = Record(key: key, value: value, bornAt: .now)
      carryOut(index.withLock { $0.set(name, record, revision) }, name, done)
    case .fill(let key, let stamped, let mark):
      let name = EntryName(of: key)
      let record = Record(
        key: key, value: stamped.value, bornAt: .now.before(by: stamped.age),
        validator: stamped.validator)
      carryOut(index.withLock { $0.fill(name, record, mark) }, name, done)
    case .remove(let key, let revision):
      let name = EntryName(of: key)
      carryOut(index.withLock { $0.remove(name, revision) }, name, done)
    case .removeAll(let revision):
      let names = index.withLock { $0.removeAll(revision) }.removals
      writing.runAll(
        names, { try self.removeIfObsolete($0) }, then: { done($0.map { CacheError(disk: $0) }) })
    }
  }

  private func carryOut(
    _ consequence: DiskIndex.Consequence, _ name: EntryName,
    _ done: @escaping @Sendable (CacheError?) -> Void
  ) {
    for victim in consequence.removals where victim != name {
      writing.run(victim) { try? self.removeIfObsolete(victim) }
    }
    if let ticket = consequence.ticket {
      writing.run(name) { done(self.write(name, ticket)) }
    } else if consequence.removals.contains(name) {
      writing.run(name) { done(self.failure { try self.removeIfObsolete(name) }) }
    } else {
      done(nil)
    }
  }

  private func write(_ name: EntryName, _ ticket: UInt64) -> CacheError? {
    guard let record = index.withLock({ $0.unwritten(name, ticket: ticket) }) else { return nil }
    let failure = failure { try files.write(record, name, number: firstNumber &+ ticket) }
    guard let failure else {
      _ = index.withLock { $0.finishWriting(name, ticket: ticket) }
      return nil
    }
    _ = index.withLock { $0.failWriting(name, ticket: ticket) }
    // What was there is older than what was told.
    try? removeIfObsolete(name)
    return failure
  }

  /// Only in the entry's lane, where no file can become an entry's meanwhile.
  private func removeIfObsolete(_ name: EntryName) throws {
    if index.withLock({ $0.isObsolete(name) }) { try files.remove(name) }
  }

  private func failure(of work: () throws -> Void) -> CacheError? {
    do {
      try work()
      return nil
    } catch {
      return CacheError(disk: error)
    }
  }
}

// MARK: - Asking

extension DiskStore {
  /// Whether there is a value for `key`, as far as that is known without reading it.
  func has(_ key: String) -> Bool {
    let name = EntryName(of: key)
    return index.withLock { $0.has(name) }
  }

  /// Calls `done` with the record for `key`: at once if it is known, or if there is none.
  func ask(
    _ key: String, _ lifetime: Lifetime,
    _ done: @escaping @Sendable (Result<Record?, CacheError>) -> Void
  ) {
    let name = EntryName(of: key)
    switch index.withLock({ $0.find(name) }) {
    case nil: done(.success(nil))
    case .told(let record): done(.success(record.isFor(key) ? record : nil))
    case .file(let ticket, let size):
      reading.run(name) {
        if lifetime.isEnded { return }
        done(Result { () throws(CacheError) in try self.read(name, key, ticket, size) })
      }
    }
  }

  private func read(
    _ name: EntryName, _ key: String, _ firstTicket: UInt64, _ firstSize: Int
  ) throws(CacheError) -> Record? {
    var (ticket, size) = (firstTicket, firstSize)
    while true {
      let reading: EntryFiles.Reading
      do {
        reading = try files.read(name, size: size, for: key)
      } catch {
        throw CacheError(disk: error)
      }
      if case .whole(let record) = reading { return record }
      if case .ofOtherKey = reading { return nil }
      if index.withLock({ $0.forget(name, ticket: ticket) }) {
        if case .damaged = reading { writing.run(name) { try? self.removeIfObsolete(name) } }
        return nil
      }
      // Something was told meanwhile, so that was not the file we looked for.
      switch index.withLock({ $0.find(name) }) {
      case nil: return nil
      case .told(let record): return record.isFor(key) ? record : nil
      case .file(let newTicket, let newSize): (ticket, size) = (newTicket, newSize)
      }
    }
  }
}
