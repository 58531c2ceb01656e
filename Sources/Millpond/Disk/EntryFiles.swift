import Foundation

/// A file per entry, in one folder.
///
/// Nothing is synced: after a power cut an entry is as it was, or gone, or so damaged that its
/// checksum says so. After the end of a process, however sudden, each is the old or the new one.
struct EntryFiles: Sendable {
  /// How far behind the file's time of use may be: of many reads only the first writes it.
  private static let useResolution: Int64 = 60_000_000

  let folder: Folder

  /// What a file turned out to hold.
  enum Reading {
    case whole(Record)

    /// A good record for another key of the same name.
    case ofOtherKey

    /// Not there.
    case missing

    /// There, but not a file that we can have made: not to be touched.
    case foreign

    /// To be removed.
    case damaged
  }

  /// Reads the file of an entry.
  ///
  /// - Parameter size: What the file has to have: no more is ever allocated.
  /// - Throws: What says nothing about the file, as too many open ones, or a locked device.
  func read(_ name: EntryName, size: Int, for key: String) throws -> Reading {
    let path = folder.path(of: name.fileName)
    let descriptor: Int32
    do {
      descriptor = try POSIX.openForReading(path)
    } catch let error as POSIXError {
      switch error.code {
      case .ENOENT, .ENOTDIR: return .missing
      // A link, or a socket or device that can't be opened.
      case .ELOOP, .ENXIO, .ENODEV: return .foreign
      default: throw error
      }
    }
    defer { POSIX.close(descriptor) }
    guard let status = POSIX.status(descriptor) else { throw POSIX.failure(path) }
    guard status.isRegular else { return .foreign }
    guard status.size == size else { return .damaged }
    var isWhole = false
    let file = try FileBytes(count: size) { isWhole = try POSIX.read(descriptor, into: $0) }
    guard isWhole else { return .damaged }
    touch(descriptor, usedAt: status.modifiedAt)
    switch Record.read(file, for: key) {
    case .whole(let record): return .whole(record)
    case .ofOtherKey: return .ofOtherKey
    case .damaged: return .damaged
    }
  }

  /// Writes the file of an entry, which takes the place of an older one when it is whole.
  ///
  /// - Parameter number: Of this attempt; no two are the same in a process.
  /// - Throws: What went wrong; then nothing new is in the folder.
  func write(_ record: Record, _ name: EntryName, number: UInt64) throws {
    guard folder.isHeld else { throw POSIX.failure(.EBADF, folder.path) }
    try folder.restore()
    let temporary = folder.path(of: EntryName.temporaryFileName(number))
    let descriptor = try openNew(temporary)
    do {
      try fill(descriptor, record, path: temporary)
      try POSIX.rename(temporary, to: folder.path(of: name.fileName))
    } catch {
      try? POSIX.remove(temporary)
      throw error
    }
  }

  /// Removes the file of an entry, if it is there.
  func remove(_ name: EntryName) throws {
    if folder.isOurs { try POSIX.remove(folder.path(of: name.fileName)) }
  }

  /// What the folder holds, the least recently used first; what was left unfinished is removed.
  func scan() throws -> [FoundFile] {
    var found: [FoundFile] = []
    var strays: [String] = []
    try POSIX.visitFolder(folder.path) { fileName, status in
      if let name = EntryName(fileName: fileName) {
        guard let status = status(), status.isRegular else { return }
        found.append(FoundFile(name: name, size: status.size, usedAt: status.modifiedAt))
      } else if EntryName.isTemporary(fileName: fileName) {
        strays.append(String(decoding: fileName, as: UTF8.self))
      }
    }
    for stray in strays { try? POSIX.remove(folder.path(of: stray)) }
    return found.sorted { $0.usedAt < $1.usedAt }
  }

  private func openNew(_ path: String) throws -> Int32 {
    do {
      return try POSIX.openNew(path)
    } catch let error as POSIXError where error.code == .ENOENT {
      // Deleted since we looked.
      try folder.restore()
      return try POSIX.openNew(path)
    }
  }

  private func fill(_ descriptor: Int32, _ record: Record, path: String) throws {
    do {
      try record.front().withUnsafeBytes { front in
        try record.value.withUnsafeBytes { try POSIX.write(descriptor, front, $0) }
      }
    } catch {
      POSIX.close(descriptor)
      throw error
    }
    guard POSIX.close(descriptor) else { throw POSIX.failure(path) }
  }

  private func touch(_ descriptor: Int32, usedAt: Int64) {
    let (past, overflow) = WallTime.now.microseconds.subtractingReportingOverflow(usedAt)
    if overflow || past < 0 || past > Self.useResolution { POSIX.touch(descriptor) }
  }
}

/// An entry that was there when the folder was opened.
struct FoundFile: Sendable {
  let name: EntryName
  let size: Int

  /// In microseconds since 1970, by the file's time of modification.
  let usedAt: Int64
}
