import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file by bare system calls; only this file of the folder imports the C library.
struct SystemFile: Sendable {
  let path: String
  private let descriptor: Int32

  /// Opens an existing file.
  init(reading path: String) throws(FileTrouble) {
    try self.init(path, O_RDONLY)
  }

  /// Opens a file that must not exist yet.
  init(making path: String) throws(FileTrouble) {
    try self.init(path, O_RDWR | O_CREAT | O_EXCL)
  }

  private init(_ path: String, _ flags: Int32) throws(FileTrouble) {
    self.path = path
    descriptor = open(path, flags | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw FileTrouble(path: path) }
  }

  /// Returns the length of the file.
  func length() throws(FileTrouble) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileTrouble(path: path) }
    return Int(status.st_size)
  }

  /// Writes all bytes by one call.
  func put(_ bytes: UnsafeRawBufferPointer, at place: Int) throws(FileTrouble) {
    guard pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(place)) == bytes.count else {
      throw FileTrouble(path: path)
    }
  }

  /// Fills all bytes by one call.
  func get(_ bytes: UnsafeMutableRawBufferPointer, at place: Int) throws(FileTrouble) {
    guard pread(descriptor, bytes.baseAddress, bytes.count, off_t(place)) == bytes.count else {
      throw FileTrouble(path: path)
    }
  }

  /// Closes the file; it can't be used any more.
  func end() {
    close(descriptor)
  }

  static func move(_ old: String, to new: String) throws(FileTrouble) {
    guard rename(old, new) == 0 else { throw FileTrouble(path: new) }
  }

  static func exists(_ path: String) -> Bool {
    access(path, F_OK) == 0
  }

  static func delete(_ path: String) throws(FileTrouble) {
    guard unlink(path) == 0 else { throw FileTrouble(path: path) }
  }

  /// Returns the room that a file takes on the disk, and its length.
  static func weight(of path: String) throws(FileTrouble) -> (allocated: Int, length: Int) {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw FileTrouble(path: path) }
    return (Int(status.st_blocks) * 512, Int(status.st_size))
  }
}

/// A failure to use a file.
struct FileTrouble: Error, CustomStringConvertible {
  let path: String
  let reason: String

  init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }

  /// - Parameter path: The subject of the system's last call.
  fileprivate init(path: String) {
    self.init(path: path, reason: String(cString: strerror(errno)))
  }

  var description: String {
    "\(path): \(reason)"
  }
}
