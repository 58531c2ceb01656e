import Foundation
import MillpondCore
import MillpondSignals

/// A value as it is stored on the server: its bytes, and behind them what the framework knows.
///
/// Behind, so that the value is a part of the answer that begins where it begins, and is not
/// copied.
///
///     value · entity tag · last modified · their lengths (2 + 2) · time of origin (8) · end (8) · mark (4)
///
/// Numbers are little-endian; times are milliseconds of the calendar, and an end of zero is none.
struct RedisRecord: Sendable, Equatable {
  /// The mark at the end: the letters mpR1.
  static let mark: UInt32 = 0x3152_706d
  static let footerSize = 24

  /// The time at which the value left its origin.
  var bornAt: Int64

  /// The time at which it expires; zero if it does not.
  var endsAt: Int64
  var validator: Validator?

  /// Returns the bytes behind a value.
  var footer: [UInt8] {
    var bytes: [UInt8] = []
    let tags = [validator?.entityTag, validator?.lastModified].map { tag -> [UInt8] in
      // A field that is too long, or that has no bytes, is left out.
      let bytes = Array((tag ?? "").utf8)
      return bytes.count <= Int(UInt16.max) ? bytes : []
    }
    for tag in tags { bytes += tag }
    for tag in tags { bytes.append(UInt64(tag.count), size: 2) }
    bytes.append(UInt64(bitPattern: bornAt), size: 8)
    bytes.append(UInt64(bitPattern: endsAt), size: 8)
    bytes.append(UInt64(Self.mark), size: 4)
    return bytes
  }

  /// Divides what is stored; nil if it is not in this form.
  static func divide(_ data: Data) -> (value: Data, record: RedisRecord)? {
    let found = data.withUnsafeBytes { bytes -> (length: Int, record: RedisRecord)? in
      let end = bytes.count
      guard end >= footerSize, number(bytes, end - 4) == mark else { return nil }
      let tag = Int(number(bytes, end - footerSize) as UInt16)
      let modified = Int(number(bytes, end - 22) as UInt16)
      let length = end - footerSize - tag - modified
      guard length >= 0 else { return nil }
      var record = RedisRecord(bornAt: number(bytes, end - 20), endsAt: number(bytes, end - 12))
      if tag + modified > 0 {
        record.validator = Validator(
          entityTag: text(bytes[length...].prefix(tag)),
          lastModified: text(bytes[(length + tag)...].prefix(modified)))
      }
      return (length, record)
    }
    return found.map { (data.prefix($0.length), $0.record) }
  }

  private static func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _ bytes: UnsafeRawBufferPointer, _ place: Int
  ) -> Number {
    Number(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Number.self))
  }

  private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String? {
    bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ number: UInt64, size: Int) {
    for place in 0..<size { append(UInt8(truncatingIfNeeded: number >> UInt64(8 * place))) }
  }
}

/// The times of a value, by the calendar of this machine.
extension RedisRecord {
  /// The milliseconds since 1970.
  static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

  /// The record of a value that is stored now, and its life in milliseconds; nil for no limit.
  ///
  /// - Parameters:
  ///   - stamped: The value.
  ///   - timeToLive: The time to live of the cache.
  ///   - isFill: Whether the value's own time to live can only shorten that of the cache.
  ///   - now: The time.
  static func of(
    _ stamped: Stamped<Data>, _ timeToLive: TimeToLive, isFill: Bool, at now: Int64
  ) -> (record: RedisRecord, life: Int64?) {
    let age = stamped.age.milliseconds
    var life = timeToLive.milliseconds.map { $0 - age }
    if let own = stamped.timeToLive {
      let ownLife = own.milliseconds
      life = isFill ? [life, ownLife].compactMap { $0 }.min() : ownLife
    }
    let bornAt = max(0, now - age)
    let endsAt = life.map { max(1, now + min($0, .max / 4)) } ?? 0
    return (RedisRecord(bornAt: bornAt, endsAt: endsAt, validator: stamped.validator), life)
  }

  /// Returns a value with its age and the rest of its life.
  ///
  /// The clocks of machines differ: a value from the future counts as new, and one that the server
  /// still has, has not expired.
  func stamped(_ value: Data, at now: Int64) -> Stamped<Data> {
    let age = max(0, now.subtractingReportingOverflow(bornAt).partialValue)
    return Stamped(
      value, age: .milliseconds(age), validator: validator,
      timeToLive: endsAt == 0 ? nil : .after(.milliseconds(endsAt > now ? endsAt - now : 1)))
  }
}

extension Duration {
  /// Whole milliseconds, rounded up, at most 292 years.
  fileprivate var milliseconds: Int64 { Int64(nanoseconds / 1_000_000) }
}

extension TimeToLive {
  /// Whole milliseconds, at least one unless it is over at once; nil for no limit.
  fileprivate var milliseconds: Int64? {
    guard case .after(let duration) = self else { return nil }
    if duration <= .zero { return 0 }
    return max(1, duration.milliseconds)
  }
}
