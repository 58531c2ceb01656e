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
      guard let record = try readWhole(hash, location) else { continue }
      let entry = DiskEntry(
        key: record.key, byteCount: record.valueSize,
        age: record.head.storedAt.age(at: options.now()))
      if record.head.expiresAt > options.now(), !visit(entry) { return }
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
    guard let record = try readWhole(hash, location) else { return nil }
    guard let file = record.file else { return record.valueSize }
    return try folder.isWhole(file, while: { !lifetime.isEnded }) ? file.count : nil
  }

  /// Returns the key of a record; nil if its front is damaged, or it has been removed.
  func readKey(_ hash: KeyHash, _ location: RecordLocation) throws -> String? {
    guard let segment = state.withLock({ $0.segments[location.segment] }) else { return nil }
    // Enough for most keys, so that large values are not read.
    var count = min(Int(location.size), RecordHead.size + 200)
    while count <= Int(location.size) {
      var isRead = false
      let bytes = try FileBytes(count: count) {
        isRead = try segment.file.read(into: $0, at: Int(location.offset))
      }
      guard isRead else { return nil }
      switch RecordHead.read(bytes.bytes, segment: UInt64(segment.number)) {
      case .front(let head, _):
        let key = UnsafeRawBufferPointer(
          rebasing: bytes.bytes[RecordHead.size..<head.payloadOffset])
        return KeyHash(key) == hash ? String(decoding: key, as: UTF8.self) : nil
      case .needsMore(let needed): count = needed
      case .damaged: return nil
      }
    }
    return nil
  }

  private struct WholeRecord {
    let head: RecordHead
    let key: String
    let file: FileValue?

    var valueSize: Int { file?.count ?? Int(head.payloadLength) }
  }

  private func readWhole(_ hash: KeyHash, _ location: RecordLocation) throws -> WholeRecord? {
    guard let segment = state.withLock({ $0.segments[location.segment] }) else { return nil }
    var isWhole = false
    let bytes = try FileBytes(count: Int(location.size)) {
      isWhole = try segment.file.read(into: $0, at: Int(location.offset))
    }
    guard isWhole, let record = Record(whole: bytes.bytes, segment: segment.number),
      KeyHash(record.key) == hash
    else { return nil }
    let file = record.largeValue
    if record.head.kind != .value, file == nil { return nil }
    return WholeRecord(
      head: record.head, key: String(decoding: record.key, as: UTF8.self), file: file)
  }
}
