import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The system's own calls.
struct POSIXCalls: FileCalls {
  /// The greatest number of bytes that every system takes at once.
  private static let most = 1 << 30

  func open(_ path: String, _ access: FileAccess) throws -> Int32 {
    let flags =
      switch access {
      case .reading: O_RDONLY | O_NONBLOCK
      case .updating: O_RDWR | O_NONBLOCK
      case .making: O_RDWR | O_CREAT | O_EXCL
      case .sharing: O_RDWR | O_CREAT | O_NONBLOCK
      case .folder: O_RDONLY | O_DIRECTORY
      }
    let descriptor = try Self.moved(systemOpen(path, flags | O_NOFOLLOW | O_CLOEXEC, 0o600), path)
    if access == .updating || access == .sharing { makePrivate(descriptor) }
    return descriptor
  }

  /// Returns the file under a descriptor beyond those of the standard streams: in a process without
  /// these, whatever is printed would go into the file.
  ///
  /// - Parameters:
  ///   - descriptor: The result of opening the file.
  ///   - path: The path, for the error.
  ///   - least: The least descriptor to return.
  static func moved(_ descriptor: Int32, _ path: String, least: Int32 = 3) throws -> Int32 {
    guard descriptor >= 0 else { throw CLibrary.failure(path) }
    if descriptor >= least { return descriptor }
    let other = fcntl(descriptor, F_DUPFD_CLOEXEC, least)
    let failure = CLibrary.failure(path)
    _ = systemClose(descriptor)
    if other < 0 { throw failure }
    return other
  }

  /// Removes the permissions of others from a file that is opened for writing, since it may have
  /// existed before.
  private func makePrivate(_ descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_mode & 0o077 != 0
    else { return }
    // It fails for another owner's file, but that is in a folder of the other owner.
    _ = fchmod(descriptor, 0o600)
  }

  func close(_ descriptor: Int32) throws { try check(systemClose(descriptor)) }

  @inline(never)
  private func check(_ result: Int32, _ path: String = "") throws {
    if result != 0 { throw CLibrary.failure(path) }
  }

  func status(_ descriptor: Int32) throws -> FileStatus {
    var status = stat()
    try check(fstat(descriptor, &status))
    return FileStatus(status)
  }

  func status(_ path: String) throws -> FileStatus {
    var status = stat()
    try check(lstat(path, &status), path)
    return FileStatus(status)
  }

  func read(
    _ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws -> Int {
    let count = pread(descriptor, bytes.baseAddress, min(bytes.count, Self.most), off_t(offset))
    guard count >= 0 else { throw CLibrary.failure("") }
    return count
  }

  func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int) throws -> Int {
    let count = pwrite(descriptor, bytes.baseAddress, min(bytes.count, Self.most), off_t(offset))
    guard count >= 0 else { throw CLibrary.failure("") }
    return count
  }

  func synchronize(_ descriptor: Int32) throws { try check(synchronizeData(descriptor)) }

  func truncate(_ descriptor: Int32, to size: Int) throws {
    try check(ftruncate(descriptor, off_t(size)))
  }

  func rename(_ path: String, to newPath: String) throws {
    try check(systemRename(path, newPath), newPath)
  }

  func remove(_ path: String) throws { try check(unlink(path), path) }

  func link(_ path: String, to newPath: String) throws {
    try check(systemLink(path, newPath), newPath)
  }

  func makeFolder(_ path: String) throws { try check(mkdir(path, 0o700), path) }

  func namesInFolder(_ path: String) throws -> [String] {
    guard let folder = opendir(path) else { throw CLibrary.failure(path) }
    defer { closedir(folder) }
    var names: [String] = []
    errno = 0
    while let entry = readdir(folder) {
      // Read in place: the system allocates no more of a `dirent` than its name needs.
      withUnsafePointer(to: &entry.pointee.d_name) { name in
        names.append(String(cString: UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self)))
      }
      errno = 0
    }
    guard errno == 0 else { throw CLibrary.failure(path) }
    return names
  }

  func lock(_ descriptor: Int32) throws -> Bool {
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
    if errno == EWOULDBLOCK { return false }
    throw CLibrary.failure("")
  }

  func unlock(_ descriptor: Int32) { _ = flock(descriptor, LOCK_UN) }
}

extension FileStatus {
  fileprivate init(_ status: stat) {
    isRegular = status.st_mode & S_IFMT == S_IFREG
    size = Int(status.st_size)
    identity = FileIdentity(
      device: UInt64(truncatingIfNeeded: status.st_dev),
      number: UInt64(truncatingIfNeeded: status.st_ino))
  }
}

// MARK: - Functions with the names of methods

private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
  open(path, flags, mode)
}

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func systemLink(_ old: String, _ new: String) -> Int32 { link(old, new) }

private func systemRename(_ old: String, _ new: String) -> Int32 { rename(old, new) }
