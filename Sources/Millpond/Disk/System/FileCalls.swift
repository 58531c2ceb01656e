import Foundation

/// The system calls of the store: everything that can fail passes through here, so that a test can
/// make each call fail or stop.
///
/// ``FileSystem`` and ``OpenFile`` repeat interrupted calls and continue partial ones.
protocol FileCalls: Sendable {
  /// Opens a file without following a link or blocking.
  func open(_ path: String, _ access: FileAccess) throws -> Int32
  func close(_ descriptor: Int32) throws
  func status(_ descriptor: Int32) throws -> FileStatus
  func status(_ path: String) throws -> FileStatus

  /// Returns the number of bytes that were read: fewer than there is room for, or none at the end.
  func read(
    _ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws -> Int

  /// Does the same if the system has the bytes in memory; nil if it would have to wait for a
  /// device, or can't tell.
  func readNow(
    _ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) -> Int?

  /// Whether the file system keeps the file in memory, so that reading it never waits.
  func isInMemory(_ descriptor: Int32) -> Bool

  /// Returns the number of bytes that were written.
  func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int) throws -> Int

  /// Waits until the contents of the file, or the entries of the folder, are on the device.
  func synchronize(_ descriptor: Int32) throws
  func truncate(_ descriptor: Int32, to size: Int) throws
  func rename(_ path: String, to newPath: String) throws
  func remove(_ path: String) throws

  /// Gives a file a further name.
  func link(_ path: String, to newPath: String) throws
  func makeFolder(_ path: String) throws
  func namesInFolder(_ path: String) throws -> [String]

  /// Locks the file for this descriptor; false if another one, of any process, holds the lock.
  func lock(_ descriptor: Int32) throws -> Bool

  /// Ends the lock, also for a child process that still has a copy of the descriptor.
  func unlock(_ descriptor: Int32)
}

/// The purposes for which a file is opened.
enum FileAccess: Sendable {
  case reading

  /// Reading and writing an existing file.
  case updating

  /// Reading and writing a new file that must not exist yet, for its owner only.
  case making

  /// Reading and writing a file, which is created for its owner only if it does not exist.
  case sharing

  /// Synchronizing the entries of a folder.
  case folder
}

/// The properties of a file that are known without reading it.
struct FileStatus: Sendable {
  let isRegular: Bool
  let size: Int
  let identity: FileIdentity
}

/// The identity of a file, whatever its name.
struct FileIdentity: Sendable, Equatable {
  let device: UInt64
  let number: UInt64
}

extension FileCalls {
  /// Repeats a call for as long as a signal interrupts it.
  func uninterrupted<Result>(_ call: () throws -> Result) throws -> Result {
    while true {
      do {
        return try call()
      } catch let error where CLibrary.code(error) == .EINTR {
        continue
      }
    }
  }
}
