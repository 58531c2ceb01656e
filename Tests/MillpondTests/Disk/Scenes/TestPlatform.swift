#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The system calls of the tests of the disk.
enum TestPlatform {
  /// Whether the tests run as root, for which no folder is read-only.
  static var isRoot: Bool {
    geteuid() == 0
  }

  static func makePipe(_ path: String) -> Bool {
    mkfifo(path, 0o600) == 0
  }

  /// Locks a file as another process would: a lock belongs to the open file description.
  ///
  /// - Returns: The descriptor to close.
  static func lock(_ path: String) -> Int32? {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? descriptor : nil
  }

  static func unlock(_ descriptor: Int32) {
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  static var parentProcess: Int32 {
    getppid()
  }

  static var process: Int32 {
    getpid()
  }

  static func killThisProcess() {
    kill(getpid(), SIGKILL)
  }
}
