/// What the store asks of the system, call by call: whatever can fail passes through here, so that a
/// test can make it fail, or stop, at each.
///
/// To try again, and to go on after half of it, is for ``FileSystem``.
protocol FileCalls: Sendable {
  /// Opens a file, without following a link or waiting for anybody.
  func open(_ path: String, _ access: FileAccess) throws -> Int32
  func close(_ descriptor: Int32) throws
  func status(_ descriptor: Int32) throws -> FileStatus
  func status(_ path: String) throws -> FileStatus

  /// Returns the number of bytes that were read: fewer than there is room for, or none at the end.
  func read(
    _ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws -> Int

  /// The same, if the system has them in memory; nil if it would have to wait for a device, or can't
  /// tell.
  func readNow(
    _ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) -> Int?

  /// Whether the file is in memory by nature, so that reading it never waits.
  func isInMemory(_ descriptor: Int32) -> Bool

  /// Returns the number of bytes that were written.
  func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int) throws -> Int

  /// Waits until what was written to the file, or made in the folder, is on the device.
  func synchronize(_ descriptor: Int32) throws
  func truncate(_ descriptor: Int32, to size: Int) throws
  func rename(_ path: String, to newPath: String) throws
  func remove(_ path: String) throws
  func makeFolder(_ path: String) throws
  func namesInFolder(_ path: String) throws -> [String]

  /// Locks the file for this descriptor; false if it is locked for another one, of any process.
  func lock(_ descriptor: Int32) throws -> Bool

  /// Ends the lock, also for a child process that has not got rid of its copy yet.
  func unlock(_ descriptor: Int32)
}

/// What a file is opened for.
enum FileAccess: Sendable {
  case reading

  /// Reading and writing what is there.
  case updating

  /// Reading and writing what must not be there yet, for its owner only.
  case making

  /// Reading and writing what is made, for its owner only, if it isn't there.
  case sharing

  /// To synchronize what is in it.
  case folder
}

/// What is known of a file without reading it.
struct FileStatus: Sendable {
  let isRegular: Bool
  let size: Int
  let identity: FileIdentity
}

/// Which file it is, whatever it is called.
struct FileIdentity: Sendable, Equatable {
  let device: UInt64
  let number: UInt64
}
