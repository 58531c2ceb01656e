import Foundation
import MillpondCore
import MillpondSignals

extension DiskStore {
  typealias FileDone = @Sendable (Result<DiskFile?, CacheError>) -> Void

  /// Calls `done` with a file that contains the value for `key`.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - isUse: Whether the lookup counts as a use of the entry.
  ///   - findsExpired: Whether a value is found that has expired.
  ///   - lifetime: The lifetime of the lookup.
  ///   - done: Receives the file.
  func file(
    for key: String, isUse: Bool = true, findsExpired: Bool = false, _ lifetime: Lifetime,
    _ done: @escaping FileDone
  ) {
    reading.run(KeyHash(of: key)) {
      if lifetime.isEnded { return }
      do {
        switch try self.findFile(for: key, isUse: isUse, findsExpired: findsExpired) {
        case .file(let file): done(.success(file))
        case .missing: done(.success(nil))
        case .onItsWay:
          let release = self.reading.hold()
          self.afterWriting {
            self.file(for: key, isUse: false, findsExpired: findsExpired, lifetime, done)
            release()
          }
        case .elsewhere: done(.success(try self.copy(key, findsExpired: findsExpired)))
        }
      } catch {
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

  private func findFile(for key: String, isUse: Bool, findsExpired: Bool) throws -> FoundFile {
    let hash = KeyHash(of: key)
    switch try find(key, hash, isUse: isUse) {
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
      let file = lent(
        .value(value.number), value.count, record.times, record.validator
      ) { self.giveBack(value.number) }
      if isClosed { throw DiskError.closed(folder: path) }
      // Reading the value will find and remove a damaged one.
      return try folder.openLargeValue(value) == nil ? .elsewhere : .file(file)
    case .write, .record: return .elsewhere
    }
  }

  /// Returns a file of a value that is not stored yet; unless it is stored, it is removed after the
  /// lease.
  func leased(
    _ value: FileValue, _ times: DiskExpiry?, _ validator: Validator?, _ revision: Revision
  ) throws -> DiskFile {
    try lease(value.number)
    return lent(.value(value.number), value.count, times, validator, revision) {
      self.giveBack(value.number)
    }
  }

  /// Protects a file that does not exist yet, or that no entry has, from removal as unknown.
  private func lease(_ number: UInt64) throws {
    state.withLock { $0.index.lease(number) }
    if isClosed {
      giveBack(number)
      throw DiskError.closed(folder: path)
    }
  }

  /// Whether the next store of the folder may not know a lease that has just begun.
  var isClosed: Bool { !folder.isHeld }

  private func lent(
    _ name: FileName, _ byteCount: Int, _ times: DiskExpiry?, _ validator: Validator?,
    _ revision: Revision? = nil, release: @escaping @Sendable () -> Void
  ) -> DiskFile {
    let now = options.now()
    return DiskFile(
      path: folder.path(of: name), byteCount: byteCount, age: times?.age(at: now) ?? .zero,
      timeToLive: times?.rest(at: now), validator: validator, revision: revision, release: release)
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
    guard (try? lease(number)) != nil else { return file }
    do {
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
        key, isUse: false, waits: true, findsExpired: findsExpired)
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
    try lease(number)
    let file: OpenFile
    do {
      file = try folder.open(name, .making)
    } catch {
      giveBack(number)
      throw error
    }
    let copy = lent(name, byteCount, times, validator, revision) {
      self.discard(name)
      self.giveBack(number)
    }
    try write(file)
    try file.close()
    return copy
  }
}
