import Foundation
import MillpondCore
import MillpondSignals

extension DiskStore {
  /// Reads every value on disk, and drops damaged ones; blocks.
  ///
  /// - Parameters:
  ///   - lifetime: Stops the walk at its end, even inside a large file.
  ///   - progress: Called after each value.
  func verify(
    _ lifetime: Lifetime, _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws -> DiskReport {
    var report = DiskReport()
    let entries = state.withLock { $0.index.entries }
    for (place, entry) in entries.enumerated() {
      if lifetime.isEnded { break }
      if let size = try verify(entry, lifetime) {
        report.goodValues += 1
        report.byteCount += size
      } else if forget(entry.hash, at: entry.location, key: nil, { $0.damages += 1 }) {
        report.damagedValues += 1
      }
      progress(place + 1, entries.count)
    }
    return report
  }

  /// Visits the values on disk, in the order of eviction; blocks.
  func visitEntries(_ visit: (DiskEntry) -> Bool) throws {
    for entry in state.withLock({ $0.index.entries }) {
      let entry = try read(entry) { record -> DiskEntry? in
        guard let size = record.valueSize, record.head.expiresAt > options.now() else {
          return nil
        }
        return DiskEntry(
          key: String(decoding: record.key, as: UTF8.self), byteCount: size,
          age: record.head.storedAt.age(at: options.now()))
      }
      if let entry, !visit(entry) { return }
    }
  }

  /// Returns the size of the value; nil if it is damaged.
  private func verify(_ entry: DiskIndex.Entry, _ lifetime: Lifetime) throws -> Int? {
    try read(entry) { record in
      guard let file = record.largeValue else { return record.valueSize }
      return try folder.isWhole(file, while: { !lifetime.isEnded }) ? file.count : nil
    }
  }

  /// Calls `body` with the record of a key, unless it is damaged or has been removed.
  private func read<Result>(
    _ entry: DiskIndex.Entry, _ body: (Record) throws -> Result?
  ) throws -> Result? {
    let hash = entry.hash
    var place = entry.location
    while true {
      if let segment = state.withLock({ $0.segments[place.segment] }),
        let bytes = try segment.file.bytes(Int(place.size), at: Int(place.offset))
      {
        defer { withExtendedLifetime(bytes) {} }
        if let record = Record(whole: bytes.bytes, segment: segment.number),
          KeyHash(record.key) == hash
        {
          return try body(record)
        }
      }
      // Compaction may have moved it since the walk has begun.
      guard case .location(let present)? = state.withLock({ $0.index.peek(hash) }),
        present.position != place.position
      else { return nil }
      place = present
    }
  }
}
