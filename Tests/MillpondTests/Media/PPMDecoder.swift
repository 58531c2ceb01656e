import Foundation
import MillpondSignals

@testable import Millpond

/// A decoder of binary PPM pictures, made of code.
struct PPMDecoder: ImageDecoder {
  struct Picture: Sendable, Equatable {
    let size: ImageSize
    let pixels: [UInt8]
  }

  struct Damaged: Error {}

  /// The sizes to which pictures were decoded.
  let decoded = Locked<[ImageSize]>([])

  func size(of data: Data) throws -> ImageSize { try head(of: data).size }

  func decode(_ data: Data, scaledTo size: ImageSize) throws -> Picture {
    let (full, start) = try head(of: data)
    decoded.withLock { $0.append(size) }
    guard full.pixelCount < .max / 3, data.count - start >= full.pixelCount * 3 else {
      throw Damaged()
    }
    let bytes = [UInt8](data.dropFirst(start))
    var pixels: [UInt8] = []
    for row in 0..<size.height {
      for column in 0..<size.width {
        let source =
          (row * full.height / size.height) * full.width + column * full.width / size.width
        pixels += bytes[source * 3..<source * 3 + 3]
      }
    }
    return Picture(size: size, pixels: pixels)
  }

  func byteCount(of picture: Picture) -> Int { picture.pixels.count }

  private func head(of data: Data) throws -> (size: ImageSize, start: Int) {
    var fields: [Substring] = []
    var start = 0
    let text = String(decoding: data.prefix(64), as: UTF8.self)
    for field in text.split(whereSeparator: \.isWhitespace).prefix(4) {
      fields.append(field)
      start += field.utf8.count + 1
    }
    guard fields.count == 4, fields[0] == "P6", let width = Int(fields[1]),
      let height = Int(fields[2])
    else { throw Damaged() }
    return (ImageSize(width: width, height: height), start)
  }

  /// Returns a picture whose pixels count up.
  static func file(width: Int, height: Int, missing: Int = 0) -> [UInt8] {
    Array("P6 \(width) \(height) 255\n".utf8)
      + (0..<width * height * 3 - missing).map { UInt8(truncatingIfNeeded: $0) }
  }
}
