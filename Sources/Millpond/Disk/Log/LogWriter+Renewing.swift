import MillpondCore
import MillpondSignals

extension LogWriter {
  /// Writes a copy of the record of a key, with new times.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - times: The new times.
  ///   - validator: The validator of the value that is meant.
  ///   - token: The token of the renewal.
  ///   - compared: The number of the last removal by predicate with which it was compared.
  /// - Returns: Nil if the key has another value, or is being written.
  func renew(
    _ key: String, _ times: DiskExpiry, _ validator: Validator?, _ token: FillToken, compared: Int
  ) throws -> Void? {
    let hash = KeyHash(of: key)
    guard folder.hold == .kept,
      let size = state.withLock({ $0.index.writtenLocation(of: hash)?.size })
    else { return nil }
    // This may move the record.
    makeRoom(for: Int(size))
    let (location, segment) = state.withLock { state in
      let location = state.index.writtenLocation(of: hash)
      return (location, location.flatMap { state.segments[$0.segment] })
    }
    guard let old = location, let segment,
      let bytes = try segment.file.bytes(Int(old.size), at: Int(old.offset))
    else { return nil }
    defer { withExtendedLifetime(bytes) {} }
    guard let record = Record(whole: bytes.bytes, segment: segment.number),
      key.hasBytes(record.key),
      record.validator == validator, record.head.schema == form.schema.version
    else { return nil }
    let part = try openSegment()
    // Admitted last, since a reload that is admitted refuses older gets.
    let isAdmitted = state.withLock { state in
      state.index.writtenLocation(of: hash) == old
        && state.index.writes.admit(token, for: hash, compared: compared)
    }
    if !isAdmitted { return nil }
    var (head, buffer) = (record.head, RecordBuffer())
    head.times = times
    buffer.append(record.bytes, head, segment: part.segment.number)
    let new = RecordLocation(
      segment: part.segment.number, offset: UInt32(part.size), size: old.size,
      expiry: times.expiresAt.expiry)
    return try append(buffer.bytes, to: part) { $0.move(hash, from: old, to: new) }
  }
}

extension DiskIndex {
  /// Returns the location of the record of a key; nil if there is none, or a write of it is pending.
  fileprivate func writtenLocation(of hash: KeyHash) -> RecordLocation? {
    guard case .location(let location)? = peek(hash), !location.isNowhere else { return nil }
    return location
  }
}
