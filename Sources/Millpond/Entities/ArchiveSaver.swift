import Foundation
import MillpondCore
import MillpondEntities
import MillpondSignals

/// Brings a cache on disk to what a store has, one group of commits after the other.
///
/// A group of one record takes the place of what was there. A larger one is first written down as a
/// whole, in parts; then a mark says that it counts; then each record takes its place, and the mark
/// and the parts go. Whoever finds the mark at the start carries the group out again.
actor ArchiveSaver {
  let disk: DiskCache

  /// The values that are not on disk yet; nil for a removal.
  private var unsaved: [String: Data?] = [:]

  /// The records found on disk, until what was made of them comes back from the store.
  private var restored: [String: Data] = [:]

  /// The number of the last group, so that no two use the same keys for their parts.
  private var group = 0

  /// The parts of the group that is marked, and parts that count for nothing.
  private var marked: [String] = []
  private var leftOver: [String] = []

  /// Whether the group has been carried out that the last process may have left.
  private var isSettled = false

  /// The reason why something could not be encoded, until it is reported.
  private var encoding: (any Error)?

  /// The reason why the last attempt to save has failed, if it has.
  private var saving: (any Error)?

  init(_ disk: DiskCache) {
    self.disk = disk
  }

  // MARK: Saving

  /// Saves what has changed, and what could not be saved before.
  func save(_ entries: [ArchiveEntry]) async {
    for entry in entries {
      do {
        note(try checked(entry.encode()))
      } catch {
        encoding = error
        // Of what can't be said as it is, nothing is said: as it was before, it might not fit to the
        // rest.
        if let key = try? entry.key() { note(ArchiveRecord(key: key, value: nil)) }
      }
    }
    do {
      try await saveGroup()
      saving = nil
    } catch {
      saving = error
    }
  }

  /// A record that the disk has room for, also as a part of a group.
  ///
  /// - Throws: ``DiskError/tooLarge(folder:key:byteCount:limit:)`` for others: left in, it would fail every
  ///   group that it is in.
  private func checked(_ record: ArchiveRecord) throws -> ArchiveRecord {
    let limit = DiskLimits(byteLimit: disk.options.byteLimit).costLimit - Self.partOverhead
    guard let value = record.value, record.byteCount > limit else { return record }
    throw CacheError(
      disk: DiskError.tooLarge(
        folder: disk.access.path, key: record.key, byteCount: value.count, limit: max(0, limit)))
  }

  /// An upper bound of what a part of a group takes beyond the record in it.
  private static let partOverhead = 1_024

  private func note(_ record: ArchiveRecord) {
    // What comes back from the store first is there already; what comes after that is a change.
    let found = restored.removeValue(forKey: record.key)
    if found == nil || found != record.value { unsaved[record.key] = .some(record.value) }
  }

  /// Forgets what was restored, when all that came of it has come back.
  func forgetRestored() { restored = [:] }

  /// Returns the outcome of waiting for all that was saved before.
  func flush(_ durability: Durability) async -> Signal<Void> {
    await save([])
    if let failure = saving ?? encoding {
      encoding = nil
      return .fail(failure)
    }
    return disk.flush(durability)
  }

  /// Removes all that is on disk, of types that are not listed too; the outcome is the disk's.
  func erase() -> Signal<Void> {
    unsaved = [:]
    restored = [:]
    marked = []
    leftOver = []
    encoding = nil
    saving = nil
    return disk.removeAll()
  }

  private func saveGroup() async throws {
    let records = unsaved.map { ArchiveRecord(key: $0.key, value: $0.value) }
    if records.isEmpty { return }
    try await settle()
    try await clear()
    if records.count > 1 { try await writeDown(records) }
    try await tell(records)
    if !marked.isEmpty {
      try await disk.remove(Self.mark).value
      leftOver += marked
      marked = []
    }
    try await clear()
    unsaved = [:]
  }

  private func writeDown(_ records: [ArchiveRecord]) async throws {
    group &+= 1
    let parts = pieces(of: records).enumerated().map { number, piece in
      ArchiveRecord(key: Self.key(ofPart: number, group), value: ArchiveBatch.encode(piece))
    }
    let keys = parts.map(\.key)
    leftOver += keys
    for part in parts { try await tell([part]) }
    try await disk.set(Data("\(group) \(parts.count)".utf8), for: Self.mark).value
    leftOver = marked
    marked = keys
  }

  /// Removes the parts that count for nothing.
  private func clear() async throws {
    try await tell(leftOver.map { ArchiveRecord(key: $0, value: nil) })
    leftOver = []
  }

  /// Writes records, not too many at once, and waits until they are on disk.
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
  ///
  /// Nothing is saved here: what is to be removed from the disk may be so because of a commit, and is
  /// saved as a part of that.
  func restore(
    _ types: [ArchivedType], _ store: EntityStore, _ token: FillToken
  ) async -> Signal<Int> {
    do {
      try await settle()
      var found: [(key: String, entity: ArchivedEntity)] = []
      for key in try await disk.contents.map(\.key).collect().value {
        guard let type = types.first(where: { key.hasPrefix($0.keyPrefix) }),
          let value = try await disk.get(key).valueIfAny
        else { continue }
        if let entity = try? type.decode(value) {
          found.append((key, entity))
          restored[key] = value
        } else {
          // It means nothing any more; it must not mean something again, when all has been removed.
          unsaved[key] = .some(nil)
        }
      }
      keep(found, store, token)
      return .just(found.count)
    } catch {
      return .fail(error)
    }
  }

  private func keep(
    _ found: [(key: String, entity: ArchivedEntity)], _ store: EntityStore, _ token: FillToken
  ) {
    let places = Set(found.map(\.key))
    store.update { _ in
      for (key, entity) in found {
        // What is not where it belongs has changed its identity by a migration.
        let hasMoved = key != entity.key
        let isKept = !(hasMoved && places.contains(entity.key)) && entity.restore(store, token)
        if isKept, hasMoved { unsaved[entity.key] = .some(restored[key]) }
        // To remove what is not there is no change, so nobody has told us of it.
        if hasMoved || !isKept { unsaved[key] = .some(nil) }
      }
    }
  }

  /// Carries out the group that was written down and marked by the last process, and maybe not carried
  /// out, and clears away what groups have left behind.
  ///
  /// Before that nothing is saved, which the older group would replace at the next start.
  private func settle() async throws {
    if isSettled { return }
    try await tell(try await markedGroup())
    try await disk.remove(Self.mark).value
    leftOver = try await disk.contents.map(\.key).collect().value
      .filter { $0.hasPrefix(Self.partPrefix) }
    try await clear()
    isSettled = true
  }

  private func markedGroup() async throws -> [ArchiveRecord] {
    guard let mark = try await disk.get(Self.mark).valueIfAny else { return [] }
    let numbers = String(decoding: mark, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 2, numbers[1] > 0 else { return [] }
    group = numbers[0]
    var records: [ArchiveRecord] = []
    for part in 0..<numbers[1] {
      guard let bytes = try await disk.get(Self.key(ofPart: part, group)).valueIfAny,
        let found = ArchiveBatch.decode(bytes)
      else { return [] }
      records += found
    }
    return records
  }
}
