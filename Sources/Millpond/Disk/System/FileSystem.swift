import Foundation
import Synchronization

/// Complete operations on files, made of calls that may be interrupted or partial.
struct FileSystem: Sendable {
  let calls: any FileCalls

  init(_ calls: any FileCalls = POSIXCalls()) {
    self.calls = calls
  }

  func open(_ path: String, _ access: FileAccess) throws -> OpenFile {
    OpenFile(try calls.uninterrupted { try calls.open(path, access) }, path, calls)
  }

  /// Returns the status of a file, without following a link; nil if there is none.
  func status(_ path: String) throws -> FileStatus? { try ifThere { try calls.status(path) } }

  func rename(_ path: String, to newPath: String) throws {
    try calls.uninterrupted { try calls.rename(path, to: newPath) }
  }

  /// Gives a file a further name.
  func link(_ path: String, to newPath: String) throws {
    try calls.uninterrupted { try calls.link(path, to: newPath) }
  }

  @inline(never)
  func remove(_ path: String) throws { _ = try ifThere { try calls.remove(path) } }

  /// Makes a folder and its missing parents, for their owner only.
  func makeFolder(_ path: String) throws {
    do {
      try calls.uninterrupted { try calls.makeFolder(path) }
    } catch let error where CLibrary.code(error) == .EEXIST {
      return
    } catch let error where CLibrary.code(error) == .ENOENT {
      let parent = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
      if parent.isEmpty { throw error }
      try makeFolder(String(parent))
      do {
        try calls.uninterrupted { try calls.makeFolder(path) }
      } catch let error where CLibrary.code(error) == .EEXIST {
        // Another process was faster.
      }
    }
  }

  func namesInFolder(_ path: String) throws -> [String] {
    try calls.uninterrupted { try calls.namesInFolder(path) }
  }

  private func ifThere<Result>(_ call: () throws -> Result) throws -> Result? {
    do {
      return try calls.uninterrupted(call)
    } catch let error where CLibrary.code(error) == .ENOENT {
      return nil
    }
  }
}

/// A file that stays open while this object exists; its contents can be read whatever happens to
/// its name.
final class OpenFile: Sendable {
  let path: String
  private let descriptor: Int32
  private let calls: any FileCalls
  private let isClosed = AtomicValue(false)
  private let nature = AtomicValue<UInt8>(0)

  init(_ descriptor: Int32, _ path: String, _ calls: any FileCalls) {
    self.descriptor = descriptor
    self.path = path
    self.calls = calls
  }

  deinit { try? close() }

  /// Closes the file now; it must not be used afterwards.
  ///
  /// - Throws: A write error that the system reports only now. An `EINTR` is not retried: the
  ///   descriptor may belong to another file by then.
  func close() throws {
    if isClosed.exchange(true, ordering: .acquiringAndReleasing) { return }
    do {
      try calls.close(descriptor)
    } catch let error where CLibrary.code(error) == .EINTR {
      return
    }
  }

  func status() throws -> FileStatus {
    try calls.uninterrupted { try calls.status(descriptor) }
  }

  /// Fills `bytes` from `offset` on; false if the file ends before.
  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Bool {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
      let count = try calls.uninterrupted {
        try calls.read(descriptor, into: rest, at: offset + done)
      }
      if count == 0 { return false }
      done += count
    }
    return true
  }

  /// Reads `count` bytes; nil if the file has fewer.
  func read(_ count: Int, at offset: Int) throws -> Data? {
    var data = Data(count: count)
    return try data.withUnsafeMutableBytes { try read(into: $0, at: offset) } ? data : nil
  }

  /// Fills `bytes` if that needs no waiting; returns whether it did.
  func readNow(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
    let nature = Nature(rawValue: nature.load(ordering: .relaxed)) ?? .unknown
    if nature == .inMemory {
      return (try? calls.read(descriptor, into: bytes, at: offset)) == bytes.count
    }
    if let count = calls.readNow(descriptor, into: bytes, at: offset) {
      return count == bytes.count
    }
    guard nature == .unknown else { return false }
    let isInMemory = calls.isInMemory(descriptor)
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

  @inline(never)
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = try calls.uninterrupted {
        try calls.write(descriptor, rest, at: offset + done)
      }
      // Otherwise a disk that takes no bytes and reports no error would be retried for ever.
      if count == 0 { throw CLibrary.failure(.EIO, path) }
      done += count
    }
  }

  func synchronize() throws { try calls.uninterrupted { try calls.synchronize(descriptor) } }

  func truncate(to size: Int) throws {
    try calls.uninterrupted { try calls.truncate(descriptor, to: size) }
  }

  func lock() throws -> Bool { try calls.uninterrupted { try calls.lock(descriptor) } }

  func unlock() { calls.unlock(descriptor) }
}
