import Foundation

/// What stands behind the first bytes of a streamed body in their file: what they are, the length of
/// that and its checksum, and a mark.
///
/// Whatever a file has become, reading it traps nothing. Whether the bytes before are as they were is
/// found out when somebody goes on with them.
struct ResumeFooter: Codable, Sendable, Equatable {
  let head: PartialHead

  /// How many bytes there are, and what they add up to.
  let byteCount: Int
  let checksum: UInt64

  /// Puts it behind the bytes of a file.
  func write(to file: OpenFile) throws {
    let data = try data()
    try data.withUnsafeBytes { try file.write($0, at: byteCount) }
  }

  /// Puts it into a file of its own, in place of an earlier one.
  func overwrite(_ journal: OpenFile) throws {
    let data = try data()
    try data.withUnsafeBytes { try journal.write($0, at: 0) }
    try journal.truncate(to: data.count)
  }

  private func data() throws -> Data {
    let encoded = try JSONEncoder().encode(self)
    var data = encoded
    for number in [UInt64(encoded.count), Self.checksum(encoded)] {
      withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) }
    }
    return data + Self.mark
  }

  /// Nil if it isn't there.
  init?(of file: OpenFile) throws {
    guard let (tail, place) = try Self.read(file), tail.byteCount == place else { return nil }
    self = tail
  }

  /// The one in a file of its own; nil if it isn't there.
  init?(journal: OpenFile) throws {
    guard let (tail, place) = try Self.read(journal), place == 0 else { return nil }
    self = tail
  }

  /// What stands at the end of a file, and where.
  private static func read(_ file: OpenFile) throws -> (tail: ResumeFooter, place: Int)? {
    let status = try file.status()
    guard status.isRegular, status.size >= Self.fixedByteCount else { return nil }
    let end = status.size - Self.fixedByteCount
    guard let fixed = try file.read(Self.fixedByteCount, at: end),
      fixed.suffix(8) == Self.mark
    else { return nil }
    let (length, checksum) = fixed.withUnsafeBytes {
      ($0.number(0, UInt64.self), $0.number(8, UInt64.self))
    }
    guard length <= Self.greatestLength, Int(length) <= end,
      let encoded = try file.read(Int(length), at: end - Int(length)),
      Self.checksum(encoded) == checksum,
      let tail = try? JSONDecoder().decode(Self.self, from: encoded), tail.byteCount >= 0
    else { return nil }
    return (tail, end - Int(length))
  }

  init(_ head: PartialHead, _ file: UnfinishedFile) {
    self.head = head
    byteCount = file.byteCount
    checksum = file.checksum
  }

  private static let mark = Data("MPPART 2".utf8)
  private static let fixedByteCount = 24

  /// More is none of ours: an identity is no longer than what a request can name.
  private static let greatestLength: UInt64 = 1 << 20

  private static func checksum(_ data: Data) -> UInt64 {
    data.withUnsafeBytes { FoldHash.hash($0, seed: 2) }
  }
}

extension OpenFile {
  /// So many bytes; nil if the file has fewer.
  func read(_ count: Int, at offset: Int) throws -> Data? {
    var data = Data(count: count)
    return try data.withUnsafeMutableBytes { try read(into: $0, at: offset) } ? data : nil
  }
}
