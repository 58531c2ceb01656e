import MillpondCore

/// What there is on disk, and what has been told but is not there yet: decides, and touches no file.
///
/// Pure; its owner locks, and releases what is dropped after the unlock.
struct DiskIndex: Sendable {
  private let limit: Int
  private var entries = RecencyTable<EntryName, Entry>()
  private var told = ToldKeys()
  private var lastTicket: UInt64 = 0
  private(set) var totalBytes = 0

  private struct Entry: Sendable {
    let size: Int
    let revision: Revision
    let ticket: UInt64

    /// What has still to be written; nil when the file is there.
    let record: Record?
  }

  init(byteLimit: Int) {
    limit = max(0, byteLimit)
  }

  var count: Int {
    entries.count
  }

  /// The last telling that could concern the entry.
  func lastTold(_ name: EntryName) -> Revision {
    told.mark(name.hash)
  }
}

// MARK: - Asking

extension DiskIndex {
  /// Where the value of an entry is.
  enum Finding: Sendable {
    case told(Record)
    case file(ticket: UInt64, size: Int)
  }

  /// The entry, which becomes the newest.
  mutating func find(_ name: EntryName) -> Finding? {
    guard let entry = entries.use(name) else { return nil }
    if let record = entry.record { return .told(record) }
    return .file(ticket: entry.ticket, size: entry.size)
  }

  /// Whether there is an entry, which is not used thereby.
  func has(_ name: EntryName) -> Bool {
    entries[name] != nil
  }

  /// Forgets an entry whose file turned out to be bad; false if that was another file.
  mutating func forget(_ name: EntryName, ticket: UInt64) -> Bool {
    guard let entry = entries[name], entry.ticket == ticket, entry.record == nil else {
      return false
    }
    _ = drop(name)
    return true
  }
}

// MARK: - Telling

extension DiskIndex {
  /// What a telling makes necessary.
  struct Consequence: Sendable {
    /// The ticket of what is to be written; nil if nothing is.
    var ticket: UInt64?

    /// Whose files are to be removed.
    var removals: [EntryName] = []

    /// What will not be written any more, to be released after the unlock.
    var records: [Record] = []
  }

  /// Takes what a folder was found to hold, the least recently used first.
  mutating func load(_ files: [FoundFile]) -> Consequence {
    var consequence = Consequence()
    for file in files {
      // Sparse files may be of any size: no more is added up than the limit.
      guard file.size <= limit else {
        consequence.removals.append(file.name)
        continue
      }
      makeRoom(for: file.size, &consequence)
      insert(file.name, size: file.size, .none, nil)
    }
    return consequence
  }

  /// Keeps what was told, unless something later has been told.
  mutating func set(_ name: EntryName, _ record: Record, _ revision: Revision) -> Consequence {
    told.outdateFills(name.hash, revision)
    let present = entries[name]?.revision ?? .none
    if told.outdates(name.hash, revision) || present > revision { return Consequence() }
    return keep(name, record, revision)
  }

  /// Keeps what a lower layer gave, unless something has been told since the mark was read.
  mutating func fill(_ name: EntryName, _ record: Record, _ mark: Mark) -> Consequence {
    guard mark.admits(lastTold(name)) else { return Consequence() }
    if mark.isReload { told.outdateFills(name.hash, .next()) }
    return keep(name, record, .none)
  }

  /// Drops what was told before.
  ///
  /// The file is to be removed also where there is no entry: an earlier removal may have failed.
  mutating func remove(_ name: EntryName, _ revision: Revision) -> Consequence {
    told.outdateFills(name.hash, revision)
    told.remember(name.hash, revision)
    if let present = entries[name]?.revision, present > revision { return Consequence() }
    var consequence = Consequence()
    dropNoting(name, &consequence)
    if consequence.removals.isEmpty { consequence.removals = [name] }
    return consequence
  }

  /// Drops everything that was told before.
  mutating func removeAll(_ revision: Revision) -> Consequence {
    guard told.tellAll(revision) else { return Consequence() }
    var consequence = Consequence()
    for name in entries.keys(where: { $0.revision <= revision }) { dropNoting(name, &consequence) }
    return consequence
  }

  private mutating func keep(
    _ name: EntryName, _ record: Record, _ revision: Revision
  ) -> Consequence {
    var consequence = Consequence()
    let old = drop(name)
    if let record = old?.record { consequence.records.append(record) }
    let size = record.size
    guard size <= limit else {
      told.remember(name.hash, revision)
      consequence.removals = [name]
      return consequence
    }
    makeRoom(for: size, &consequence)
    insert(name, size: size, revision, record)
    consequence.ticket = lastTicket
    return consequence
  }

  private mutating func makeRoom(for size: Int, _ consequence: inout Consequence) {
    while totalBytes > limit - size, let oldest = entries.oldestKey {
      dropNoting(oldest, &consequence)
    }
  }

  private mutating func dropNoting(_ name: EntryName, _ consequence: inout Consequence) {
    guard let entry = drop(name) else { return }
    consequence.removals.append(name)
    if let record = entry.record { consequence.records.append(record) }
  }

  private mutating func insert(
    _ name: EntryName, size: Int, _ revision: Revision, _ record: Record?
  ) {
    lastTicket += 1
    totalBytes += size
    entries.insert(
      name, Entry(size: size, revision: revision, ticket: lastTicket, record: record))
  }

  private mutating func drop(_ name: EntryName) -> Entry? {
    let entry = entries.remove(name)
    totalBytes -= entry?.size ?? 0
    return entry
  }
}

// MARK: - Writing

extension DiskIndex {
  /// What is to be written; nil if something else was told since.
  func unwritten(_ name: EntryName, ticket: UInt64) -> Record? {
    guard let entry = entries[name], entry.ticket == ticket else { return nil }
    return entry.record
  }

  /// Notes that the file is there, unless something else was told since.
  ///
  /// - Returns: What need not be kept any more.
  mutating func finishWriting(_ name: EntryName, ticket: UInt64) -> Record? {
    guard let record = unwritten(name, ticket: ticket), let entry = entries[name] else {
      return nil
    }
    entries.replace(
      name, by: Entry(size: entry.size, revision: entry.revision, ticket: ticket, record: nil))
    return record
  }

  /// Forgets what could not be written, unless something else was told since.
  mutating func failWriting(_ name: EntryName, ticket: UInt64) -> Record? {
    guard let record = unwritten(name, ticket: ticket) else { return nil }
    _ = drop(name)
    return record
  }

  /// Whether a file of this name may be removed: it may not where it is that of an entry.
  func isObsolete(_ name: EntryName) -> Bool {
    guard let entry = entries[name] else { return true }
    return entry.record != nil
  }
}

extension EntryName {
  fileprivate var hash: Int {
    Int(truncatingIfNeeded: low)
  }
}
