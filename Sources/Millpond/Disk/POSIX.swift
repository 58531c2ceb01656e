import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The calls we make to the system, thinly: nothing else in this folder imports the C library.
enum POSIX {
  /// What is known of a file without reading it.
  struct Status {
    let isRegular: Bool
    let size: Int
    let modifiedAt: Int64
    let file: FileIdentity
  }

  /// Which file it is, whatever it is called.
  struct FileIdentity: Equatable {
    let device: UInt64
    let number: UInt64
  }

  /// - Parameter path: What the call was about.
  static func failure(_ path: String) -> POSIXError {
    failure(POSIXErrorCode(rawValue: errno) ?? .EIO, path)
  }

  static func failure(_ code: POSIXErrorCode, _ path: String) -> POSIXError {
    POSIXError(code, userInfo: [NSFilePathErrorKey: path])
  }

  /// In microseconds since 1970.
  static func wallTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time.sinceEpoch
  }

  /// - Throws: `ENOMEM`.
  static func allocate(_ count: Int) throws -> UnsafeMutableRawBufferPointer {
    guard let start = malloc(max(1, count)) else { throw failure(.ENOMEM, "") }
    return UnsafeMutableRawBufferPointer(start: start, count: count)
  }

  static func areEqual(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Bool {
    guard first.count == second.count else { return false }
    guard let start = first.baseAddress, let other = second.baseAddress else { return true }
    return memcmp(start, other, first.count) == 0
  }

  static func free(_ bytes: UnsafeRawBufferPointer) {
    systemFree(UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  fileprivate static func retrying(_ call: () -> Int) -> Int {
    while true {
      let result = call()
      guard result == -1, errno == EINTR else { return result }
    }
  }
}

// MARK: - Folders

extension POSIX {
  /// Makes a folder, and those above it that are missing, for its owner only.
  static func makeFolder(_ path: String) throws {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    let parent = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
    guard errno == ENOENT, !parent.isEmpty else { throw failure(path) }
    try makeFolder(String(parent))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(path) }
  }

  /// The one path of a folder that has several.
  static func resolve(_ path: String) throws -> String {
    guard let resolved = realpath(path, nil) else { throw failure(path) }
    defer { free(UnsafeRawBufferPointer(start: resolved, count: 0)) }
    return String(cString: resolved)
  }

  /// Calls `visit` with the name of each file in the folder, and a way to ask for its status.
  static func visitFolder(
    _ path: String, _ visit: (UnsafeRawBufferPointer, () -> Status?) -> Void
  ) throws {
    guard let folder = opendir(path) else { throw failure(path) }
    defer { closedir(folder) }
    let descriptor = dirfd(folder)
    errno = 0
    while let entry = readdir(folder) {
      // In place: the system allocates no more of a `dirent` than its name needs.
      withUnsafePointer(to: &entry.pointee.d_name) { name in
        let name = UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self)
        visit(UnsafeRawBufferPointer(start: name, count: strlen(name))) {
          var status = stat()
          guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
          return Status(status)
        }
      }
      errno = 0
    }
    guard errno == 0 else { throw failure(path) }
  }
}

// MARK: - Files

extension POSIX {
  /// Opens what is there, without following a link or waiting for anybody.
  static func openForReading(_ path: String) throws -> Int32 {
    try open(path, O_RDONLY | O_NONBLOCK)
  }

  /// Opens a file that must not exist yet, for its owner only.
  static func openNew(_ path: String) throws -> Int32 {
    try open(path, O_WRONLY | O_CREAT | O_EXCL)
  }

  /// Opens a file for its owner only, and makes it if need be.
  static func openShared(_ path: String) throws -> Int32 {
    try open(path, O_RDWR | O_CREAT | O_NONBLOCK)
  }

  static func status(_ descriptor: Int32) -> Status? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Status(status) : nil
  }

  static func status(_ path: String) -> Status? {
    var status = stat()
    return lstat(path, &status) == 0 ? Status(status) : nil
  }

  /// Fills `bytes` from the file's start; false if the file ends before.
  static func read(_ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer) throws -> Bool {
    var done = 0
    while done < bytes.count, let start = bytes.baseAddress {
      let count = retrying {
        pread(descriptor, start + done, min(bytes.count - done, most), off_t(done))
      }
      if count == -1 { throw failure("") }
      if count == 0 { return false }
      done += count
    }
    return true
  }

  /// Writes both, one after the other, whole.
  static func write(
    _ descriptor: Int32, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer
  ) throws {
    var firstRest = first[...]
    var secondRest = second[...]
    while !firstRest.isEmpty || !secondRest.isEmpty {
      let parts = [vector(firstRest), vector(secondRest)]
      let count = retrying { writev(descriptor, parts, 2) }
      if count == -1 { throw failure("") }
      // A disk that takes nothing and says nothing would be asked for ever.
      if count == 0 { throw failure(.EIO, "") }
      let ofFirst = min(count, firstRest.count)
      firstRest = firstRest.dropFirst(ofFirst)
      secondRest = secondRest.dropFirst(count - ofFirst)
    }
  }

  /// Sets the file's time to now, if that can be.
  static func touch(_ descriptor: Int32) {
    _ = futimens(descriptor, nil)
  }

  /// - Returns: False if the system says that what was written is lost.
  @discardableResult
  static func close(_ descriptor: Int32) -> Bool {
    // Never again after EINTR: the descriptor may belong to somebody else by then.
    systemClose(descriptor) == 0 || errno == EINTR
  }

  static func rename(_ old: String, to new: String) throws {
    guard systemRename(old, new) == 0 else { throw failure(new) }
  }

  /// Removes a file, if it is there.
  static func remove(_ path: String) throws {
    guard unlink(path) == 0 || errno == ENOENT else { throw failure(path) }
  }

  /// Locks the file for this descriptor; false if it is locked for another one, of any process.
  ///
  /// - Throws: What keeps the file from being locked at all.
  static func lock(_ descriptor: Int32) throws -> Bool {
    if retrying({ Int(flock(descriptor, LOCK_EX | LOCK_NB)) }) == 0 { return true }
    if errno == EWOULDBLOCK { return false }
    throw failure("")
  }

  /// Ends the lock, also for a child process that has not got rid of its copy yet.
  static func unlock(_ descriptor: Int32) {
    _ = flock(descriptor, LOCK_UN)
  }

  /// What some systems take at once, at the most.
  private static let most = 1 << 30

  private static func open(_ path: String, _ flags: Int32) throws -> Int32 {
    let descriptor = retrying {
      Int(systemOpen(path, flags | O_NOFOLLOW | O_CLOEXEC, 0o600))
    }
    guard descriptor >= 0 else { throw failure(path) }
    return Int32(descriptor)
  }

  private static func vector(_ bytes: Slice<UnsafeRawBufferPointer>) -> iovec {
    let bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(most))
    return iovec(
      iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
  }
}

// MARK: - Names that ours hide, and fields that are called otherwise elsewhere

private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
  open(path, flags, mode)
}

private func systemClose(_ descriptor: Int32) -> Int32 {
  close(descriptor)
}

private func systemRename(_ old: String, _ new: String) -> Int32 {
  rename(old, new)
}

private func systemFree(_ start: UnsafeMutableRawPointer?) {
  free(start)
}

extension POSIX.Status {
  fileprivate init(_ status: stat) {
    isRegular = status.st_mode & S_IFMT == S_IFREG
    size = Int(status.st_size)
    modifiedAt = status.modified.sinceEpoch
    file = POSIX.FileIdentity(
      device: UInt64(truncatingIfNeeded: status.st_dev),
      number: UInt64(truncatingIfNeeded: status.st_ino))
  }
}

extension timespec {
  /// What doesn't fit is the latest time there is.
  fileprivate var sinceEpoch: Int64 {
    let (product, overflow) = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000)
    if overflow { return tv_sec < 0 ? .min : .max }
    let (sum, sumOverflow) = product.addingReportingOverflow(Int64(tv_nsec) / 1_000)
    return sumOverflow ? .max : sum
  }
}

#if canImport(Darwin)
  extension stat {
    fileprivate var modified: timespec { st_mtimespec }
  }
#else
  extension stat {
    fileprivate var modified: timespec { st_mtim }
  }
#endif
