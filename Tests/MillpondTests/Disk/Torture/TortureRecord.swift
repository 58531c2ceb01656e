import Foundation

/// The writes to a store, and its permitted contents after them.
struct TortureRecord {
  private struct Entry {
    /// The version; nil for a removal.
    let version: Int?
    let count: Int
    var isAcknowledged = false
  }

  private var entries: [String: [Entry]] = [:]
  private var lastVersion = 0

  /// The versions that were set together.
  var groups: [[String: Int]] = []

  /// Whether values may have been evicted.
  var mayForget = false

  var keys: [String] {
    entries.keys.sorted()
  }

  /// Records a write of `count` bytes, and makes its value.
  mutating func set(_ key: String, count: Int) -> (version: Int, value: Data) {
    lastVersion += 1
    entries[key, default: []].append(Entry(version: lastVersion, count: count))
    return (lastVersion, Self.value(key, lastVersion, count))
  }

  mutating func remove(_ key: String) {
    entries[key, default: []].append(Entry(version: nil, count: 0))
  }

  mutating func removeAll() {
    for key in entries.keys { remove(key) }
  }

  /// Notes that all up to a version, or the last, is on disk.
  mutating func acknowledge(_ key: String, _ version: Int? = nil) {
    let place = entries[key]?.lastIndex { version == nil || $0.version == version }
    if let place { entries[key]?[place].isAcknowledged = true }
  }

  /// Notes that a removal of everything is on disk.
  ///
  /// - Parameter later: The keys that were set after it.
  mutating func acknowledgeRemovalOfAll(before later: [String] = []) {
    for key in entries.keys where !later.contains(key) { acknowledge(key) }
  }

  /// Notes that a value is absent, and stays so.
  mutating func fail(_ key: String, _ version: Int) {
    entries[key]?.removeAll { $0.version == version }
  }

  /// Returns the fault of a found value; nil if there is none.
  func complaint(_ found: Data?, for key: String) -> String? {
    let entries = entries[key] ?? []
    let last = entries.lastIndex { $0.isAcknowledged }
    let candidates = entries[(last ?? 0)...]
    guard let found else {
      let mayBeAbsent = last == nil || mayForget || candidates.contains { $0.version == nil }
      return mayBeAbsent ? nil : "\(key) is lost"
    }
    for entry in candidates {
      if let version = entry.version, found == Self.value(key, version, entry.count) { return nil }
    }
    let start = String(decoding: found.prefix(24), as: UTF8.self)
    return "\(key) is \(start) of \(found.count), told \(entries.suffix(3))"
  }

  /// Returns the faults of values that were set together: one of them is there, and an older value
  /// of another key.
  func complaints(ofGroups found: [String: Data]) -> [String] {
    let versions = found.compactMapValues { value in
      String(decoding: value.prefix(24), as: UTF8.self).split(separator: "|").dropFirst().first
        .flatMap { Int($0) }
    }
    return groups.filter { group in
      group.contains { versions[$0] == $1 } && group.contains { (versions[$0] ?? .max) < $1 }
    }.map { "of \($0) only a part is there" }
  }

  /// Returns a value that contains its key and its version.
  static func value(_ key: String, _ version: Int, _ count: Int) -> Data {
    var value = Data("\(key)|\(version)|\(count)|")
    value.append(Data(repeating: UInt8(truncatingIfNeeded: version), count: count))
    return value
  }
}
