/// A reader of a segment, record by record, that skips damaged bytes.
///
/// Not thread-safe.
final class SegmentReader {
  /// A step through the segment.
  enum Step {
    /// A record with an undamaged front and all its bytes, which are valid until the next step.
    case record(offset: Int, Record)

    /// Bytes that are not a record.
    case damage(offset: Int)

    /// The front of a record of another version of the format.
    case otherVersion(UInt8)
  }

  private static let windowSize = 1 << 20
  private static let magic: [UInt8] = [0x4D, 0x50, 0x6E, 0x64]

  private let segment: Segment
  private let end: Int
  private var window: UnsafeMutableRawBufferPointer
  private var windowOffset: Int
  private var windowCount = 0

  private(set) var offset: Int

  init(_ segment: Segment, from offset: Int, to end: Int) throws {
    self.segment = segment
    self.offset = offset
    self.end = end
    windowOffset = offset
    window = try CLibrary.allocate(max(0, min(Self.windowSize, end - offset)))
  }

  deinit { CLibrary.free(UnsafeRawBufferPointer(window)) }

  /// Returns the next record or the damage in its place; nil at the end.
  func next() throws -> Step? {
    while offset < end {
      var needed = RecordHead.size
      while true {
        guard let bytes = try bytes(atLeast: needed) else { return try passDamage() }
        switch Record.read(bytes, segment: segment.number) {
        case .damaged: return try passDamage()
        case .ofOtherVersion(let version):
          _ = try passDamage()
          return .otherVersion(version)
        case .needsMore(let count): needed = count
        case .front(let record):
          needed = record.head.recordSize
          if record.bytes.count < needed { continue }
          defer { offset += needed }
          return .record(offset: offset, record)
        }
      }
    }
    return nil
  }

  /// Passes the next records, of about `byteCount` bytes, to `body`, and skips damage.
  ///
  /// - Returns: Whether there are more.
  func step(
    _ byteCount: Int, _ body: (_ offset: Int, Record) throws -> Void
  ) throws -> Bool {
    let start = offset
    while offset - start < byteCount {
      switch try next() {
      case .record(let offset, let record)?: try body(offset, record)
      case .damage?, .otherVersion?: break
      case nil: return false
      }
    }
    return true
  }

  /// Returns the bytes from the offset on; nil if there are fewer than `count`.
  private func bytes(atLeast count: Int) throws -> UnsafeRawBufferPointer? {
    guard count <= end - offset else { return nil }
    if offset + count > windowOffset + windowCount { try fill(atLeast: count) }
    guard offset + count <= windowOffset + windowCount else { return nil }
    let start = offset - windowOffset
    return UnsafeRawBufferPointer(rebasing: window[start..<windowCount])
  }

  private func fill(atLeast count: Int) throws {
    if count > window.count {
      let larger = try CLibrary.allocate(count)
      CLibrary.free(UnsafeRawBufferPointer(window))
      window = larger
    }
    let room = UnsafeMutableRawBufferPointer(rebasing: window[..<min(window.count, end - offset)])
    windowOffset = offset
    windowCount = 0
    if try segment.file.read(into: room, at: offset) { windowCount = room.count }
  }

  /// Moves to the next possible beginning of a record.
  private func passDamage() throws -> Step {
    let start = offset
    offset += 1
    while let bytes = try bytes(atLeast: Self.magic.count) {
      if let place = Self.findMagic(bytes) {
        offset += place
        return .damage(offset: start)
      }
      offset += bytes.count - Self.magic.count + 1
    }
    offset = end
    return .damage(offset: start)
  }

  /// Finds the magic number with the system's search, since a file may be sparse and huge.
  private static func findMagic(_ bytes: UnsafeRawBufferPointer) -> Int? {
    let last = bytes.count - magic.count
    var start = 0
    while start <= last {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[start...last])
      guard let place = CLibrary.find(magic[0], in: rest) else { return nil }
      start += place
      if (1..<magic.count).allSatisfy({ bytes[start + $0] == magic[$0] }) { return start }
      start += 1
    }
    return nil
  }
}
