@testable import Millpond

enum CheckpointBytes {
  /// Makes the checksum right for the present bytes.
  static func seal(_ bytes: inout [UInt8]) {
    guard bytes.count >= Checkpoint.headSize else { return }
    let sum = bytes.withUnsafeBytes { bytes in
      FoldHash.hash(
        UnsafeRawBufferPointer(rebasing: bytes[Checkpoint.headSize...]),
        seed: FoldHash.hash(UnsafeRawBufferPointer(rebasing: bytes[..<32]), seed: 4))
    }
    RecordBytes.put(sum, 8, &bytes, 32)
  }
}
