/// A search of the log for values that the index does not list, such as evicted ones: a restart
/// without a checkpoint would find them again.
///
/// Only on the writing queue, in steps. The log may grow and lose segments meanwhile: the search is
/// in the records that there were at its beginning.
struct UnlistedValues {
  private var parts: ArraySlice<LogContents.Part>
  private var reader: SegmentReader?

  /// The found values: of each key, the latest one.
  private var found: [KeyHash: (key: String, position: LogPosition)] = [:]

  /// The number of bytes that a step reads.
  private static let stepSize = 262_144

  init(in parts: [LogContents.Part]) {
    self.parts = parts[...]
  }

  /// The keys of the values that were found.
  var keys: some Sequence<(hash: KeyHash, key: String)> {
    found.lazy.map { ($0.key, $0.value.key) }
  }

  /// Reads the next records.
  ///
  /// - Parameters:
  ///   - isUnlisted: Whether the index has no entry for a hash.
  ///   - isWanted: Whether the values of a key are searched for.
  /// - Returns: Whether there are more.
  mutating func step(
    _ isUnlisted: (KeyHash) -> Bool, _ isWanted: (String) -> Bool
  ) throws -> Bool {
    guard let part = parts.first else { return false }
    let reader = try reader ?? SegmentReader(part.segment, from: 0, to: part.size)
    self.reader = reader
    let start = reader.offset
    while reader.offset - start < Self.stepSize {
      guard let step = try reader.next() else {
        self.reader = nil
        parts.removeFirst()
        return !parts.isEmpty
      }
      guard case .record(let offset, let record) = step else { continue }
      let hash = KeyHash(record.key)
      switch record.head.kind {
      case .removal: found[hash] = nil
      case .removalOfAll:
        let survivors = record.survivors
        found = found.filter { survivors.contains($0.value.position) }
      case .value, .file:
        guard isUnlisted(hash) else { continue }
        let key = String(decoding: record.key, as: UTF8.self)
        if isWanted(key) {
          let location = record.location(segment: part.segment.number, offset)
          found[hash] = (key, location.position)
        }
      case .void: break
      }
    }
    return true
  }
}
