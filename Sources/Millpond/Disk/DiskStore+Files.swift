import Foundation
import MillpondCore
import MillpondSignals

extension DiskStore {
  typealias FileDone = @Sendable (Result<DiskFile?, CacheError>) -> Void

  /// Calls `done` with a file that contains the value for `key`.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - isCounted: Whether the lookup has been counted as a hit already.
  ///   - findsExpired: Whether a value is found that has expired.
  ///   - lifetime: The lifetime of the lookup.
  ///   - done: Receives the file.
  func file(
    for key: String, isCounted: Bool = false, findsExpired: Bool = false, _ lifetime: Lifetime,
    _ done: @escaping FileDone
  ) {
    reading.run(KeyHash(of: key)) {
      if lifetime.isEnded { return }
      do {
        switch try self.findFile(for: key, isCounted: isCounted, findsExpired: findsExpired) {
        case .file(let file): done(.success(file))
        case .missing: done(.success(nil))
        case .onItsWay:
          let release = self.reading.hold()
          self.afterWriting {
            self.file(for: key, isCounted: true, findsExpired: findsExpired, lifetime, done)
            release()
          }
        case .elsewhere: done(.success(try self.copy(key, findsExpired: findsExpired)))
        }
      } catch {
        self.forgetHit()
        done(.failure(CacheError(disk: error, self.folder, key: key)))
      }
    }
  }

  private enum FoundFile {
    case file(DiskFile)
    case missing
    case onItsWay

    /// The value is not in a file of its own, or is sealed.
    case elsewhere
  }

  private func findFile(
    for key: String, isCounted: Bool, findsExpired: Bool
  ) throws -> FoundFile {
    let hash = KeyHash(of: key)
    switch try find(key, hash, isCounted: isCounted) {
    case nil: return .missing
    case .write(let write, .value(let value)):
      return write.isFor(key) && value.count >= DiskLimits.largeSize ? .onItsWay : .elsewhere
    case .write(let write, .file): return write.isFor(key) ? .onItsWay : .elsewhere
    case .record(let place) where options.form.sealing == nil:
      guard case .whole(let record) = try place.read(for: key),
        case .file(let value) = record.content, record.schema == options.form.schema.version,
        findsExpired || !record.times.isOver(at: options.now()),
        state.withLock({ $0.index.lease(hash, value) })
      else { return .elsewhere }
      let file = file(of: value, record.times, validator: record.validator)
      if isClosed { throw DiskError.closed(folder: path) }
      // Reading the value will find and remove a damaged one.
      return try folder.openLargeValue(value) == nil ? .elsewhere : .file(file)
    case .write, .record, .file: return .elsewhere
    }
  }

  /// Returns a file of a value that is not stored yet; unless it is stored, it is removed after the
  /// lease.
  func leased(
    _ value: FileValue, _ times: DiskExpiry?, _ validator: Validator?, _ revision: Revision
  ) throws -> DiskFile {
    state.withLock { $0.index.lease(value.number) }
    if isClosed {
      giveBack(value.number)
      throw DiskError.closed(folder: path)
    }
    return file(of: value, times, validator: validator, revision: revision)
  }

  /// Whether the next store of the folder may not know a lease that has just begun.
  var isClosed: Bool { !folder.isHeld }

  private func file(
    of value: FileValue, _ times: DiskExpiry?, validator: Validator?, revision: Revision? = nil
  ) -> DiskFile {
    let now = options.now()
    return DiskFile(
      path: folder.path(of: .value(value.number)), byteCount: value.count,
      age: times?.age(at: now) ?? .zero, timeToLive: times?.rest(at: now), validator: validator,
      revision: revision,
      release: { self.giveBack(value.number) })
  }

  /// Removes a file that nothing needs; if that fails, the writer tries again.
  func discard(_ name: FileName) {
    do {
      try folder.remove(name)
    } catch {
      afterWriting { self.writer.discard([name]) }
    }
  }

  /// Ends a lease; removes the file of a value if it is no longer needed.
  private func giveBack(_ number: UInt64) {
    let (isUnneeded, heir) = state.withLock { $0.giveBack(number) }
    if isUnneeded { remove([number]) }
    heir?(number)
  }

  /// Returns the file under a further name with this extension, which is removed with it.
  ///
  /// - Returns: The file as it is if the volume has no further names.
  func linked(_ file: DiskFile, pathExtension: String) -> DiskFile {
    let number = numbers.next()
    let name = FileName.link(number, pathExtension: pathExtension)
    let path = folder.path(of: name)
    // Leased before it exists, so that it is not removed as unknown.
    state.withLock { $0.index.lease(number) }
    do {
      if isClosed { throw DiskError.closed(folder: folder.path) }
      try folder.files.link(file.url.path(percentEncoded: false), to: path)
    } catch {
      giveBack(number)
      return file
    }
    return DiskFile(
      path: path, byteCount: file.byteCount, age: file.age, timeToLive: file.timeToLive,
      validator: file.validator, revision: file.revision,
      release: { [self] in
        discard(name)
        giveBack(number)
        _ = file  // kept until now
      })
  }

  /// Takes over the files that an earlier store has lent and that are still leased.
  ///
  /// - Parameters:
  ///   - found: The files that were leased when the folder was opened, and so were not removed;
  ///     they are leased here too.
  ///   - earlier: The earlier store.
  func takeOver(_ found: Set<UInt64>, from earlier: DiskStore?) {
    guard let earlier, !found.isEmpty else { return }
    let heir: DiskState.Heir = { number in self.admissions.async { self.giveBack(number) } }
    let present = earlier.state.withLock { state in
      state.heir = heir
      state.inherited = found.intersection(state.index.leases.keys)
      return state.inherited
    }
    for number in found.subtracting(present) { giveBack(number) }
  }

  /// Writes the value to a file that is removed when it is released; only on a queue for reading.
  private func copy(_ key: String, findsExpired: Bool) throws -> DiskFile? {
    guard
      case .found(let answer) = try read(
        key, isCounted: true, waits: true, findsExpired: findsExpired)
    else { return nil }
    return try copied(answer.value.count, answer.times, validator: answer.validator) {
      try $0.write(answer.value)
    }
  }

  /// Makes a file with the output of `write`, which is removed when it is released.
  func copied(
    _ byteCount: Int, _ times: DiskExpiry? = nil, validator: Validator?, revision: Revision? = nil,
    _ write: (OpenFile) throws -> Void
  ) throws -> DiskFile {
    let number = numbers.next()
    let name = FileName.unfinished(number)
    // Leased before it exists, so that it is not removed as unknown.
    state.withLock { $0.index.lease(number) }
    let file: OpenFile
    do {
      if isClosed { throw DiskError.closed(folder: folder.path) }
      file = try folder.open(name, .making)
    } catch {
      giveBack(number)
      throw error
    }
    let now = options.now()
    let copy = DiskFile(
      path: file.path, byteCount: byteCount, age: times?.age(at: now) ?? .zero,
      timeToLive: times?.rest(at: now), validator: validator, revision: revision,
      release: {
        self.discard(name)
        self.giveBack(number)
      })
    try write(file)
    try file.close()
    return copy
  }
}
