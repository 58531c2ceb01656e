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

  /// The bytes from `offset` on; many of them are not copied.
  func data(from offset: Int) -> Data {
    let part = UnsafeRawBufferPointer(rebasing: bytes[offset...])
    guard part.count >= 32_768, let start = part.baseAddress else { return Data(part) }
    let keeper = self
    return Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: part.count,
      deallocator: .custom { _, _ in withExtendedLifetime(keeper) {} })
  }
}
