import Foundation
import MillpondCore

extension Record {
  /// How many bytes the record has on disk.
  var size: Int {
    head.valueOffset + value.count
  }

  /// All that lies in front of the value.
  func front() -> [UInt8] {
    let head = head
    var front = [UInt8](repeating: 0, count: RecordHead.size)
    front.reserveCapacity(head.valueOffset)
    front.append(contentsOf: key.utf8)
    front.append(contentsOf: (validator?.entityTag ?? "").utf8)
    front.append(contentsOf: (validator?.lastModified ?? "").utf8)
    front.withUnsafeMutableBytes { front in
      value.withUnsafeBytes { head.seal(front, value: $0) }
    }
    return front
  }

  /// What a file holds.
  enum Reading {
    case whole(Record)

    /// A good record for another key.
    case ofOtherKey

    /// Torn, damaged, of another version, or never one of ours.
    case damaged
  }

  /// Reads the record for `key` from the bytes of a whole file.
  static func read(_ file: FileBytes, for key: String) -> Reading {
    let bytes = file.bytes
    guard let head = RecordHead(bytes) else { return .damaged }
    let front = UnsafeRawBufferPointer(rebasing: bytes[..<head.valueOffset])
    let value = UnsafeRawBufferPointer(rebasing: bytes[head.valueOffset...])
    guard RecordHead.sum(front, value) == head.checksum else { return .damaged }
    var parts = front.dropFirst(RecordHead.size)
    guard key.hasBytes(UnsafeRawBufferPointer(rebasing: parts.prefix(head.keyLength))) else {
      return .ofOtherKey
    }
    parts = parts.dropFirst(head.keyLength)
    let tag = String(decoding: parts.prefix(head.tagLength), as: UTF8.self)
    let date = String(decoding: parts.dropFirst(head.tagLength), as: UTF8.self)
    let validator = Validator(
      entityTag: head.hasTag ? tag : nil, lastModified: head.hasDate ? date : nil)
    return .whole(
      Record(
        key: key, value: file.data(from: head.valueOffset),
        bornAt: WallTime(microseconds: head.bornAt),
        validator: validator == Validator() ? nil : validator))
  }

  private var head: RecordHead {
    RecordHead(
      flags: (validator?.entityTag == nil ? 0 : 1) | (validator?.lastModified == nil ? 0 : 2),
      bornAt: bornAt.microseconds,
      keyLength: key.utf8.count,
      tagLength: validator?.entityTag?.utf8.count ?? 0,
      dateLength: validator?.lastModified?.utf8.count ?? 0,
      valueLength: value.count)
  }
}
