import Foundation
import MillpondCore

@testable import Millpond

/// Bytes of records, as the store writes them, and others.
enum RecordBytes {
  static func make(
    _ kind: RecordHead.Kind = .value, key: String = "key", payload: [UInt8] = Array("value".utf8),
    validator: Validator? = nil, segment: UInt32 = 7,
    _ change: (inout RecordHead) -> Void = { _ in }
  ) -> [UInt8] {
    var head = RecordHead(kind)
    change(&head)
    var buffer = RecordBuffer()
    payload.withUnsafeBytes {
      _ = buffer.append(head, key: key, payload: $0, validator, segment: segment)
    }
    return buffer.bytes
  }

  /// Calls `body` with what is read at the beginning of the bytes; the record is valid meanwhile.
  static func readFront<Result>(
    _ bytes: [UInt8], segment: UInt32 = 7, _ body: (Record.Reading) -> Result
  ) -> Result {
    bytes.withUnsafeBytes { body(Record.read($0, segment: segment)) }
  }

  static func read(
    _ bytes: [UInt8], for key: String = "key", segment: UInt32 = 7
  ) -> StoredRecord.Reading {
    bytes.withUnsafeBytes { bytes in
      StoredRecord.read(bytes, for: key, segment: segment) { Data(bytes[$0]) }
    }
  }

  /// Makes the checksums right for the present bytes, as far as they reach.
  static func seal(_ bytes: inout [UInt8], segment: UInt32 = 7) {
    guard bytes.count >= RecordHead.size else { return }
    let keyEnd = RecordHead.size + Int(number(bytes, 12))
    let sum = bytes.withUnsafeBytes { bytes -> UInt64 in
      let fixed = FoldHash.hash(
        UnsafeRawBufferPointer(rebasing: bytes[..<44]), seed: UInt64(segment))
      let key = bytes[RecordHead.size..<min(max(keyEnd, RecordHead.size), bytes.count)]
      return FoldHash.hash(UnsafeRawBufferPointer(rebasing: key), seed: fixed)
    }
    put(UInt64(sum & 0xFFFF_FFFF), 4, &bytes, 44)
    let end = keyEnd + [16, 20, 24].reduce(0) { $0 + Int(number(bytes, $1)) }
    guard end <= bytes.count else { return }
    let whole = bytes.withUnsafeBytes {
      FoldHash.hash(UnsafeRawBufferPointer(rebasing: $0[keyEnd..<end]), seed: sum)
    }
    put(whole, 8, &bytes, 48)
  }

  /// Four bytes, the lowest first.
  static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    (0..<4).reversed().reduce(0) { $0 << 8 | UInt32(bytes[offset + $1]) }
  }

  static func put(_ number: UInt64, _ count: Int, _ bytes: inout [UInt8], _ offset: Int) {
    for place in 0..<count {
      bytes[offset + place] = UInt8(truncatingIfNeeded: number >> (8 * place))
    }
  }
}

extension Record.Reading {
  var front: Record? {
    if case .front(let record) = self { record } else { nil }
  }

  var needsMore: Bool {
    if case .needsMore = self { true } else { false }
  }
}

extension StoredRecord.Reading {
  var record: StoredRecord? {
    if case .whole(let record) = self { record } else { nil }
  }

  var value: Data? {
    if case .value(let value) = record?.content { value } else { nil }
  }

  var isDamaged: Bool {
    if case .damaged = self { true } else { false }
  }

  var isOfOtherKey: Bool {
    if case .ofOtherKey = self { true } else { false }
  }
}
