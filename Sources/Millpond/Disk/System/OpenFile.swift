import Foundation
import Synchronization

/// A file that stays open while this object exists; its contents can be read whatever happens to
/// its name.
final class OpenFile: Sendable {
  let path: String
  private let descriptor: Int32
  private let files: FileSystem
  private let isClosed = Atomic(false)
  private let nature = Atomic<UInt8>(0)

  init(_ descriptor: Int32, _ path: String, _ files: FileSystem) {
    self.descriptor = descriptor
    self.path = path
    self.files = files
  }

  deinit { try? close() }

  /// Closes the file now; it must not be used afterwards.
  ///
  /// - Throws: A write error that the system reports only now. An `EINTR` is not retried: the
  ///   descriptor may belong to another file by then.
  func close() throws {
    if isClosed.exchange(true, ordering: .acquiringAndReleasing) { return }
    do {
      try files.calls.close(descriptor)
    } catch let error where POSIX.code(error) == .EINTR {
      return
    }
  }

  func status() throws -> FileStatus { try files.calls.status(descriptor) }

  /// Fills `bytes` from `offset` on; false if the file ends before.
  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Bool {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
      let count = try files.uninterrupted {
        try files.calls.read(descriptor, into: rest, at: offset + done)
      }
      if count == 0 { return false }
      done += count
    }
    return true
  }

  /// Fills `bytes` if that needs no waiting; returns whether it did.
  func readNow(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
    let nature = Nature(rawValue: nature.load(ordering: .relaxed)) ?? .unknown
    if nature == .inMemory {
      return (try? files.calls.read(descriptor, into: bytes, at: offset)) == bytes.count
    }
    if let count = files.calls.readNow(descriptor, into: bytes, at: offset) {
      return count == bytes.count
    }
    guard nature == .unknown else { return false }
    let isInMemory = files.calls.isInMemory(descriptor)
    self.nature.store((isInMemory ? Nature.inMemory : .onDevice).rawValue, ordering: .relaxed)
    return isInMemory && readNow(into: bytes, at: offset)
  }

  /// The place where the system keeps the file, as far as it has been queried.
  private enum Nature: UInt8 {
    case unknown, inMemory, onDevice
  }

  func write(_ bytes: some ContiguousBytes, at offset: Int = 0) throws {
    try bytes.withUnsafeBytes { try write($0 as UnsafeRawBufferPointer, at: offset) }
  }

  /// Writes all of `bytes` at `offset`.
  @inline(never)
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = try files.uninterrupted {
        try files.calls.write(descriptor, rest, at: offset + done)
      }
      // Otherwise a disk that takes no bytes and reports no error would be retried for ever.
      if count == 0 { throw POSIX.failure(.EIO, path) }
      done += count
    }
  }

  func synchronize() throws { try files.uninterrupted { try files.calls.synchronize(descriptor) } }

  func truncate(to size: Int) throws {
    try files.uninterrupted { try files.calls.truncate(descriptor, to: size) }
  }

  func lock() throws -> Bool { try files.uninterrupted { try files.calls.lock(descriptor) } }

  func unlock() { files.calls.unlock(descriptor) }
}
