/// A record that was found at the opening, and what it says about its key.
struct FoundRecord {
  enum Effect {
    case load(FileValue?)
    case unload
    case unloadAll(sparing: Set<LogPosition>)
    case nothing
  }

  enum State {
    case good

    /// Its value is lost, and the key has no older one.
    case damaged

    /// A power cut may have torn it, so the older record of its key counts.
    case torn

    /// Its file is missing, as after a later write of its key; the others of its group count.
    case lost
  }

  let hash: KeyHash
  let location: RecordLocation
  var effect = Effect.nothing
  var state = State.good
}

/// The records of a group that were found so far; all of them count, or none.
struct RecordGroup {
  private var records: [FoundRecord] = []

  /// Whether there is something else between them, or before the first one.
  private var isBroken = false

  /// Whether no group is open.
  var isEmpty: Bool { records.isEmpty }

  /// Notes bytes that are not a record.
  mutating func breakOff() { isBroken = true }

  /// Adds the next record of the log.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - head: Its head.
  ///   - synced: The position up to which the log is on the device; nil if no flush was made.
  /// - Returns: The records about which all is known now, with the state that each has by its group.
  mutating func add(
    _ record: FoundRecord, _ head: RecordHead, synced: LogPosition?
  ) -> [FoundRecord] {
    var ended: [FoundRecord] = []
    if !head.isOfGroup || head.isFirstOfGroup {
      // The present one lacks its end.
      breakOff()
      ended = end(synced)
    }
    guard head.isOfGroup else { return ended + [record] }
    if records.isEmpty, !head.isFirstOfGroup { breakOff() }
    records.append(record)
    return head.isLastOfGroup ? ended + end(synced) : ended
  }

  private mutating func end(_ synced: LogPosition?) -> [FoundRecord] {
    defer { self = RecordGroup() }
    let isWhole = records.allSatisfy { $0.state == .good || $0.state == .lost }
    if isWhole, !isBroken { return records }
    return records.map { record in
      var record = record
      // Before that position it was whole once.
      let mayBeTorn = synced.map { record.location.position >= $0 } ?? false
      record.state = mayBeTorn ? .torn : .damaged
      return record
    }
  }
}
