import Foundation

/// The bytes of a file in memory.
final class FileBytes: @unchecked Sendable {
  // Sendable because nobody writes to the bytes any more once `fill` has returned.
  let bytes: UnsafeRawBufferPointer

  /// - Throws: `ENOMEM`, instead of trapping; what `fill` throws.
  init(count: Int, fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
    let memory = try POSIX.allocate(count)
    bytes = UnsafeRawBufferPointer(memory)
    try fill(memory)
  }

  deinit {
    POSIX.free(bytes)
  }

  /// A part of the bytes; many of them are not copied.
  func data(from range: Range<Int>) -> Data {
    let part = UnsafeRawBufferPointer(rebasing: bytes[range])
    guard part.count >= 16_384, let start = part.baseAddress else { return Data(part) }
    let keeper = self
    return Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: part.count,
      deallocator: .custom { _, _ in withExtendedLifetime(keeper) {} })
  }
}
