import Foundation
import MillpondCore
import MillpondSignals

/// Brings a cache on disk to what a store has, one group of commits after the other.
///
/// A group of one record takes the place of what was there. A larger one is first written down as a
/// whole, in parts; then a mark says that it counts; then each record takes its place, and the mark
/// and the parts go. Whoever finds the mark at the start carries the group out again.
actor ArchiveSaver {
  private let disk: DiskCache

  /// What is not on disk yet, by its keys; of nil values, the removal.
  private var unsaved: [String: Data?] = [:]

  /// What was found on disk, until what it has been made into comes back from the store.
  private var restored: [String: Data] = [:]

  /// The number of the last group, so that no two use the same keys for their parts.
  private var group = 0

  /// Why something could not be encoded, until somebody is told.
  private var encoding: (any Error)?

  /// Why the last attempt to save has failed, if it has.
  private var saving: (any Error)?

  init(_ disk: DiskCache) {
    self.disk = disk
  }

  // MARK: Saving

  /// Saves what has changed, and what could not be saved before.
  func save(_ entries: [ArchiveEntry]) async {
    for entry in entries {
      do {
        let record = try entry.encode()
        if restored[record.key] != record.value || record.value == nil {
          unsaved[record.key] = .some(record.value)
        }
      } catch {
        encoding = error
      }
    }
    if !entries.isEmpty { restored = [:] }
    do {
      try await saveGroup()
      saving = nil
    } catch {
      saving = error
    }
  }

  /// How it ends to wait for all that was saved before.
  func flush(_ durability: DiskCache.Durability) async -> Signal<Void> {
    await save([])
    if let failure = saving ?? encoding {
      encoding = nil
      return .fail(failure)
    }
    return disk.flush(durability)
  }

  private func saveGroup() async throws {
    let records = unsaved.map { ArchiveRecord(key: $0.key, value: $0.value) }
    if records.isEmpty { return }
    let parts = records.count > 1 ? try await writeDown(records) : []
    try await tell(records)
    if !parts.isEmpty {
      try await disk.remove(Self.mark).value
      try await tell(parts.map { ArchiveRecord(key: $0, value: nil) })
    }
    unsaved = [:]
  }

  /// Writes a group down, and marks it; gives the keys of its parts.
  private func writeDown(_ records: [ArchiveRecord]) async throws -> [String] {
    group += 1
    let parts = pieces(of: records).enumerated().map { number, piece in
      ArchiveRecord(key: Self.key(ofPart: number, group), value: ArchiveBatch.encode(piece))
    }
    for part in parts { try await tell([part]) }
    try await disk.set(Data("\(group) \(parts.count)".utf8), for: Self.mark).value
    return parts.map(\.key)
  }

  /// Tells the disk, not too much at once, and waits until it is there.
  private func tell(_ records: [ArchiveRecord]) async throws {
    for piece in pieces(of: records) {
      let outcomes = piece.map { record in
        record.value.map { disk.set($0, for: record.key) } ?? disk.remove(record.key)
      }
      for outcome in outcomes { try await outcome.value }
    }
  }

  private func pieces(of records: [ArchiveRecord]) -> [ArraySlice<ArchiveRecord>] {
    var pieces: [ArraySlice<ArchiveRecord>] = []
    var (start, bytes) = (0, 0)
    for (place, record) in records.enumerated() {
      bytes += record.byteCount
      if bytes < Self.pieceBytes, place + 1 < records.count { continue }
      pieces.append(records[start...place])
      (start, bytes) = (place + 1, 0)
    }
    return pieces
  }

  private static let mark = "b"
  private static let partPrefix = "b/"
  private static let pieceBytes = 1 << 20

  private static func key(ofPart number: Int, _ group: Int) -> String {
    "\(partPrefix)\(group)/\(number)"
  }

  // MARK: Restoring

  /// Puts into the store what is on disk; how that ends.
  func restore(
    _ types: [ArchivedType], _ store: EntityStore, askedAt revision: Revision
  ) async -> Signal<Int> {
    do {
      let keys = try await disk.contents.map(\.key).collect().value
      let redone = try await markedGroup()
      var entities: [(key: String, entity: ArchivedEntity)] = []
      for key in Set(keys).union(redone.keys) {
        guard let type = types.first(where: { key.hasPrefix($0.keyPrefix) }) else { continue }
        let value = if let new = redone[key] { new } else { try await disk.get(key).valueIfAny }
        guard let value, let entity = try? type.decode(value) else { continue }
        entities.append((key, entity))
        restored[key] = value
      }
      try await settle(redone, leftOver: keys.filter { $0.hasPrefix(Self.partPrefix) })
      let removed = store.update { _ in
        entities.filter { !$0.entity.restore(store, revision) }
      }
      // To remove what is not there is no change, so nobody has told us of it.
      for (key, _) in removed { unsaved[key] = .some(nil) }
      return .just(entities.count)
    } catch {
      return .fail(error)
    }
  }

  /// The records of a group that was written down and marked, and maybe not carried out.
  private func markedGroup() async throws -> [String: Data?] {
    guard let mark = try await disk.get(Self.mark).valueIfAny else { return [:] }
    let numbers = String(decoding: mark, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 2, numbers[1] >= 0 else { return [:] }
    group = numbers[0]
    var records: [String: Data?] = [:]
    for part in 0..<numbers[1] {
      guard let bytes = try await disk.get(Self.key(ofPart: part, group)).valueIfAny,
        let found = ArchiveBatch.decode(bytes)
      else { return [:] }
      for record in found { records[record.key] = .some(record.value) }
    }
    return records
  }

  /// Carries out a group that was found, and clears away what groups have left behind.
  private func settle(_ redone: [String: Data?], leftOver parts: [String]) async throws {
    try await tell(redone.map { ArchiveRecord(key: $0.key, value: $0.value) })
    try await disk.remove(Self.mark).value
    try await tell(parts.map { ArchiveRecord(key: $0, value: nil) })
  }
}
