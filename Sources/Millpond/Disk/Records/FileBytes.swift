import Foundation

/// The bytes of a file in memory.
final class FileBytes: Sendable {
  /// Immutable once `fill` has returned.
  nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

  /// Allocates the bytes and fills them.
  ///
  /// - Throws: `ENOMEM` instead of trapping, and the errors of `fill`.
  @inline(never)
  init(count: Int, fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
    let memory = try CLibrary.allocate(count)
    bytes = UnsafeRawBufferPointer(memory)
    try fill(memory)
  }

  deinit { CLibrary.free(bytes) }

  /// Returns a part of the bytes, without copying from 16 KiB on.
  func data(from range: Range<Int>) -> Data {
    let part = UnsafeRawBufferPointer(rebasing: bytes[range])
    guard part.count >= 16_384, let start = part.baseAddress else { return Data(part) }
    let keeper = self
    return Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: part.count,
      deallocator: .custom { _, _ in withExtendedLifetime(keeper) {} })
  }
}

extension OpenFile {
  /// Reads `count` bytes; nil if the file has fewer.
  func bytes(_ count: Int, at offset: Int) throws -> FileBytes? {
    var isWhole = false
    let bytes = try FileBytes(count: count) { isWhole = try read(into: $0, at: offset) }
    return isWhole ? bytes : nil
  }
}

extension UnsafeRawBufferPointer {
  /// Reads a little-endian number.
  func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _ offset: Int, _ type: Number.Type
  ) -> Number {
    Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Writes a little-endian number.
  func put(_ number: some FixedWidthInteger & BitwiseCopyable, _ offset: Int) {
    storeBytes(of: number.littleEndian, toByteOffset: offset, as: type(of: number))
  }
}

extension RangeReplaceableCollection<UInt8> {
  /// Adds a little-endian number.
  @inline(__always)  // where its bytes are known to be few
  mutating func append(number: some FixedWidthInteger & BitwiseCopyable) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
