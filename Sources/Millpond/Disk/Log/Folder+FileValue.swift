import Foundation

extension Folder {
  /// Writes a value to a file of its own, which belongs to no entry until a record names it.
  ///
  /// - Throws: The error; then there may be a file, which has to be removed.
  func writeLargeValue(_ value: Data, number: UInt64) throws -> FileValue {
    let file = try open(.value(number), .making)
    let sum = try value.withUnsafeBytes { bytes in
      try file.write(bytes, at: 0)
      return FileChecksum(of: bytes).sum
    }
    try file.close()
    return FileValue(number: number, length: UInt64(value.count), checksum: sum)
  }

  /// Reads a value from a file of its own; nil if the file is missing or damaged.
  ///
  /// - Throws: Errors that say nothing about the file, such as too many open files, or a locked
  ///   device.
  func readLargeValue(_ value: FileValue) throws -> Data? {
    guard let file = try openLargeValue(value) else { return nil }
    var sum = FileChecksum()
    var isWhole = true
    let bytes = try FileBytes(count: value.count) { bytes in
      for start in stride(from: 0, to: bytes.count, by: FileChecksum.pieceSize) where isWhole {
        let end = min(start + FileChecksum.pieceSize, bytes.count)
        let piece = UnsafeMutableRawBufferPointer(rebasing: bytes[start..<end])
        isWhole = try file.read(into: piece, at: start)
        sum.add(UnsafeRawBufferPointer(piece))
      }
    }
    return isWhole && sum.sum == value.checksum ? bytes.data(from: 0..<value.count) : nil
  }

  /// Whether the file of a value is complete and undamaged.
  func isWhole(_ value: FileValue) throws -> Bool {
    guard let file = try openLargeValue(value) else { return false }
    var sum = FileChecksum()
    let isRead = try file.readPieces(value.count) { piece, _ in sum.add(piece) }
    return isRead && sum.sum == value.checksum
  }

  /// Opens the file of a value; nil if it is not a regular file of the right size.
  func openLargeValue(_ value: FileValue) throws -> OpenFile? {
    guard let (file, size) = try openRegular(.value(value.number), .reading), size == value.count
    else { return nil }
    return file
  }
}

extension OpenFile {
  /// Reads the first bytes piece by piece.
  ///
  /// - Returns: Whether `body` received all of them; false if the file has fewer.
  func readPieces(
    _ byteCount: Int, _ body: (UnsafeRawBufferPointer, _ offset: Int) throws -> Void
  ) throws -> Bool {
    let room = try CLibrary.allocate(FileChecksum.pieceSize)
    defer { CLibrary.free(UnsafeRawBufferPointer(room)) }
    for offset in stride(from: 0, to: byteCount, by: FileChecksum.pieceSize) {
      let piece = UnsafeMutableRawBufferPointer(
        rebasing: room[..<min(FileChecksum.pieceSize, byteCount - offset)])
      guard try read(into: piece, at: offset) else { return false }
      try body(UnsafeRawBufferPointer(piece), offset)
    }
    return true
  }
}
