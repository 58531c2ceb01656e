/// A writer of PNG files, in pure Swift and without compression.
///
/// The pixels are in stored blocks, so a file is as large as its pixels, and takes a while on a
/// slow line, as the demo needs it.
///
/// - Source: RFC 2083 (PNG), RFC 1950 (zlib), RFC 1951 §3.2.4 (stored blocks).
enum PNG {
  /// Returns a whole file: 8 bits per channel, red, green, blue and alpha, not interlaced.
  static func encoded(_ pixels: Pixels) -> [UInt8] {
    let header = bigEndian(pixels.width) + bigEndian(pixels.height) + [8, 6, 0, 0, 0]
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
      + chunk("IHDR", header)
      + chunk("IDAT", zlibStream(of: unfilteredLines(of: pixels)))
      + chunk("IEND", [])
  }

  /// Returns the lines of pixels, each after its filter number: 0, none.
  private static func unfilteredLines(of pixels: Pixels) -> [UInt8] {
    let lineLength = pixels.width * Pixels.bytesPerPixel
    var lines: [UInt8] = []
    lines.reserveCapacity((lineLength + 1) * pixels.height)
    for start in stride(from: 0, to: pixels.bytes.count, by: lineLength) {
      lines.append(0)
      lines += pixels.bytes[start..<(start + lineLength)]
    }
    return lines
  }

  private static func zlibStream(of bytes: [UInt8]) -> [UInt8] {
    let blockLimit = 0xFFFF
    var stream: [UInt8] = [0x78, 0x01]
    stream.reserveCapacity(bytes.count + 32)
    for start in stride(from: 0, to: bytes.count, by: blockLimit) {
      let block = bytes[start..<min(start + blockLimit, bytes.count)]
      let isLast: UInt8 = block.endIndex == bytes.count ? 1 : 0
      let length = UInt16(block.count)
      stream += [isLast] + littleEndian(length) + littleEndian(~length)
      stream += block
    }
    var adler = Adler32()
    adler.add(bytes)
    return stream + bigEndian(Int(adler.checksum))
  }

  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let checked = Array(name.utf8) + content
    var crc = CRC32()
    crc.add(checked)
    return bigEndian(content.count) + checked + bigEndian(Int(crc.checksum))
  }

  private static func bigEndian(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  private static func littleEndian(_ number: UInt16) -> [UInt8] {
    [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
  }
}
