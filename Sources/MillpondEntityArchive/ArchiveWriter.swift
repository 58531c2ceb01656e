import Foundation
import Millpond
import MillpondCore
import MillpondEntities
import MillpondSignals

/// A writer that brings a disk to the state of a store, one group of commits after another.
///
/// The disk writes a group as a whole. So wherever the process dies, or the disk is full, all of it is
/// there or nothing.
actor ArchiveWriter {
  let disk: DiskCache

  /// The values that are not on disk yet; nil for a removal.
  private var unsaved: [String: Data?] = [:]

  /// The records found on disk, until the store reports the entities made of them.
  private var restored: [String: Data] = [:]

  private var keys = ArchiveKeys()

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
    for entry in entries { note(entry) }
    do {
      try await saveGroup()
      saving = nil
    } catch {
      saving = error
    }
  }

  private func note(_ entry: ArchiveEntry) {
    var value: Data?
    do {
      value = try entry.value()
    } catch {
      // An entity that can't be encoded is removed: its former state might not fit the rest.
      encoding = error
    }
    do {
      let key = keys.key(of: entry.identity, text: try entry.text())
      if value == nil { keys.forget(entry.identity) }
      // The first report of a restored record is on disk already; a later one is a change.
      let found = restored.removeValue(forKey: key)
      if found == nil || found != value { unsaved[key] = .some(value) }
    } catch {
      encoding = error
    }
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
    keys = ArchiveKeys()
    encoding = nil
    saving = nil
    return disk.removeAll()
  }

  private func saveGroup() async throws {
    if unsaved.isEmpty { return }
    try await disk.keep(unsaved.map { (key: $0.key, value: $0.value) }).value
    unsaved = [:]
  }

  // MARK: Restoring

  /// A record on disk, and its entity.
  private struct Found {
    let key: String
    let value: Data
    let entity: ArchivedEntity
  }

  /// Puts the entities on disk into the store, and returns the outcome.
  ///
  /// Saves nothing: a removal from the disk may be due to a commit, and is saved as a part of it.
  func restore(
    _ types: [ArchivedType], _ store: EntityStore, _ token: FillToken
  ) async -> Signal<Int> {
    do {
      var found: [Found] = []
      for key in try await disk.contents.map(\.key).collect().value {
        guard let type = types.first(where: { key.hasPrefix($0.keyPrefix) }),
          let value = try await disk.get(key).valueIfAny
        else { continue }
        if let entity = try? type.decode(value) {
          found.append(Found(key: key, value: value, entity: entity))
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

  /// Puts entities into the store; of several with one identity, that under its own key.
  private func keep(_ found: [Found], _ store: EntityStore, _ token: FillToken) {
    let (own, others) = (
      found.filter { $0.key == $0.entity.text }, found.filter { $0.key != $0.entity.text }
    )
    var taken: Set<String> = []
    var moved: [String: Data] = [:]
    store.update { _ in
      for record in own + others {
        let key = keys.key(
          of: record.entity.identity, text: record.entity.text, foundAt: record.key)
        let isFirst = taken.insert(key).inserted
        let isKept = isFirst && record.entity.restore(store, token)
        // Removing an absent entity is no change, so the store has not reported it.
        if !isKept || key != record.key { unsaved[record.key] = .some(nil) }
        if !isKept, isFirst { keys.forget(record.entity.identity) }
        if isKept, key == record.key { restored[key] = record.value }
        // An entity under a wrong key has changed its identity by a migration.
        if isKept, key != record.key { moved[key] = record.value }
      }
    }
    for (key, value) in moved { unsaved[key] = .some(value) }
  }
}
