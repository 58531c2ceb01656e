import Foundation
import MillpondCore
import MillpondEntities
import MillpondSignals

/// A writer that brings a cache on disk to the state of a store, one group of commits after
/// another.
///
/// A group of one record replaces the stored one. A larger group is first written as a whole, in
/// parts; then a mark makes it valid; then each record replaces the stored one, and the mark and
/// the parts are removed. A process that finds the mark at its start carries the group out again.
actor ArchiveWriter {
  let disk: DiskCache

  /// The values that are not on disk yet; nil for a removal.
  private var unsaved: [String: Data?] = [:]

  /// The records found on disk, until the store reports the entities made of them.
  private var restored: [String: Data] = [:]

  /// The number of the last group, so that no two groups use the same keys for their parts.
  private var group = 0

  /// The parts of the marked group, and parts that are no longer valid.
  private var marked: [String] = []
  private var leftOver: [String] = []

  /// Whether the group that the last process may have left has been carried out.
  private var isSettled = false

  /// The last encoding error, until it is reported.
  private var encoding: (any Error)?

  /// The error of the last attempt to save, if it failed.
  private var saving: (any Error)?

  init(_ disk: DiskCache) {
    self.disk = disk
  }

  // MARK: Saving

  /// Saves these changes, and those that could not be saved before.
  func save(_ entries: [ArchiveEntry]) async {
    for entry in entries {
      do {
        note(try checked(entry.encode()))
      } catch {
        encoding = error
        // An entity that can't be encoded is removed: its former state might not fit the rest.
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

  /// Returns a record for which the disk has room, also as a part of a group.
  ///
  /// - Throws: ``DiskError/tooLarge(folder:key:byteCount:limit:)`` for a larger one, which would
  ///   fail every group that contains it.
  private func checked(_ record: ArchiveRecord) throws -> ArchiveRecord {
    let limit = DiskLimits(byteLimit: disk.options.byteLimit).costLimit - Self.partOverhead
    guard let value = record.value, record.byteCount > limit else { return record }
    throw CacheError(
      disk: DiskError.tooLarge(
        folder: disk.access.path, key: record.key, byteCount: value.count, limit: max(0, limit)))
  }

  /// An upper bound of the bytes that a part of a group takes in addition to its record.
  private static let partOverhead = 1_024

  private func note(_ record: ArchiveRecord) {
    // The first report of a restored record is on disk already; a later one is a change.
    let found = restored.removeValue(forKey: record.key)
    if found == nil || found != record.value { unsaved[record.key] = .some(record.value) }
  }

  /// Forgets the restored records after the store has reported all of them.
  func forgetRestored() { restored = [:] }

  /// Saves everything pending, and returns the outcome of the disk's flush.
  func flush(_ durability: Durability) async -> Signal<Void> {
    await save([])
    if let failure = saving ?? encoding {
      encoding = nil
      return .fail(failure)
    }
    return disk.flush(durability)
  }

  /// Removes everything on disk, including types that are not listed, and returns the disk's
  /// outcome.
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
    try await write(records)
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
    for part in parts { try await write([part]) }
    try await disk.set(Data("\(group) \(parts.count)".utf8), for: Self.mark).value
    leftOver = marked
    marked = keys
  }

  /// Removes the parts that are no longer valid.
  private func clear() async throws {
    try await write(leftOver.map { ArchiveRecord(key: $0, value: nil) })
    leftOver = []
  }

  /// Writes records in pieces of limited size, and waits until they are on disk.
  private func write(_ records: [ArchiveRecord]) async throws {
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

  /// Puts the entities on disk into the store, and returns the outcome.
  ///
  /// Saves nothing: a removal from the disk may be due to a commit, and is saved as a part of it.
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
          // It can't be decoded, and must not become decodable again after everything was removed.
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
        // An entity under a wrong key has changed its identity by a migration.
        let hasMoved = key != entity.key
        let isKept = !(hasMoved && places.contains(entity.key)) && entity.restore(store, token)
        if isKept, hasMoved { unsaved[entity.key] = .some(restored[key]) }
        // Removing an absent entity is no change, so the store has not reported it.
        if hasMoved || !isKept { unsaved[key] = .some(nil) }
      }
    }
  }

  /// Carries out the marked group of the last process, which may not have done so, and removes the
  /// remains of groups.
  ///
  /// Nothing is saved before, since the older group would replace it at the next start.
  private func settle() async throws {
    if isSettled { return }
    try await write(try await markedGroup())
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
