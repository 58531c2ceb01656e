import Foundation

extension FileHandle {
  /// Reads to the end, in pieces that are small compared with a trace.
  func forEachChunk(_ receive: (Data) -> Void) throws {
    while let piece = try read(upToCount: 1 << 18), !piece.isEmpty { receive(piece) }
  }
}
