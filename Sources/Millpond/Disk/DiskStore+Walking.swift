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
    let locations = allLocations()
    for (place, (hash, location)) in locations.enumerated() {
      if lifetime.isEnded { break }
      if let size = try verify(hash, location, lifetime) {
        report.goodValues += 1
        report.byteCount += size
      } else if forget(hash, at: location, key: nil, { $0.damages += 1 }) {
        report.damagedValues += 1
      }
      progress(place + 1, locations.count)
    }
    return report
  }

  /// Visits the values on disk, in the order of eviction; blocks.
  func visitEntries(_ visit: (DiskEntry) -> Bool) throws {
    for (hash, location) in allLocations() {
      let entry = try read(hash, location) { record -> DiskEntry? in
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

  private func allLocations() -> [(KeyHash, RecordLocation)] {
    var locations: [(KeyHash, RecordLocation)] = []
    state.forEachEntry { locations.append(($0.hash, $0.location)) }
    return locations
  }

  /// Returns the size of the value; nil if it is damaged.
  private func verify(_ hash: KeyHash, _ location: RecordLocation, _ lifetime: Lifetime) throws
    -> Int?
  {
    try read(hash, location) { record in
      guard let file = record.largeValue else { return record.valueSize }
      return try folder.isWhole(file, while: { !lifetime.isEnded }) ? file.count : nil
    }
  }

  /// Returns the key of a record; nil if its front is damaged, or it has been removed.
  func readKey(_ hash: KeyHash, _ location: RecordLocation) throws -> String? {
    guard let segment = state.withLock({ $0.segments[location.segment] }) else { return nil }
    // Enough for most keys, so that large values are not read.
    var count = min(Int(location.size), RecordHead.size + 200)
    while count <= Int(location.size) {
      guard let bytes = try segment.file.bytes(count, at: Int(location.offset)) else { return nil }
      defer { withExtendedLifetime(bytes) {} }
      switch Record.read(bytes.bytes, segment: segment.number) {
      case .front(let record):
        return KeyHash(record.key) == hash ? String(decoding: record.key, as: UTF8.self) : nil
      case .needsMore(let needed): count = needed
      case .damaged: return nil
      }
    }
    return nil
  }

  /// Calls `body` with the record of a key, unless it is damaged or has been removed.
  private func read<Result>(
    _ hash: KeyHash, _ location: RecordLocation, _ body: (Record) throws -> Result?
  ) throws -> Result? {
    var place = location
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
