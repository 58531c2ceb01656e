@testable import Millpond

enum CheckpointBytes {
  /// Makes the checksum right for the present bytes.
  static func seal(_ bytes: inout [UInt8]) {
    guard bytes.count >= Checkpoint.emptySize else { return }
    let end = bytes.count - 8
    let sum = bytes.withUnsafeBytes {
      FoldHash.hash(UnsafeRawBufferPointer(rebasing: $0[..<end]), seed: 4)
    }
    RecordBytes.put(sum, 8, &bytes, end)
  }

  static func read(_ bytes: [UInt8]) -> Checkpoint? { bytes.withUnsafeBytes { Checkpoint($0) } }
}
