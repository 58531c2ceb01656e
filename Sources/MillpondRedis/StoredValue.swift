import Foundation
import MillpondCore

/// A value in the form in which the server has it, and the commands that store it and take it back.
struct StoredValue: Sendable {
  let value: Data

  /// The bytes behind the value.
  let footer: [UInt8]

  /// Its life in milliseconds; nil for no limit.
  let life: Int64?

  /// Whether the server tracks the keys that a connection has read.
  let isTrackedByKey: Bool

  private var expiry: [RedisArgument] { life.map { ["PX", .number($0)] } ?? [] }

  /// Returns the command that stores the value.
  func set(_ key: RedisKey) -> RedisRequest {
    let arguments = [.value(value, footer)] + expiry
    // The server tracks what a connection has read, and forgets that at a write, also at one of
    // the same connection. The script reads the key in the same step.
    return isTrackedByKey
      ? .script(Self.setAndRead, key, arguments) : .command(["SET", .key(key)] + arguments)
  }

  /// Returns the command that stores the value, and before that removes what the key has: then also a
  /// server that is full stores it.
  func setAnew(_ key: RedisKey) -> RedisRequest {
    .script(Self.unlink + Self.setAndRead, key, [.value(value, footer)] + expiry)
  }

  /// Returns the command that stores the value if the key still has what it had; its answer is null
  /// if not.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - present: The fingerprint of what it had.
  ///   - orRemove: Whether what the key had is removed if the server can't store the value.
  func set(_ key: RedisKey, over present: Data, orRemove: Bool) -> RedisRequest {
    // The server reports what a script has written also to the client that made it.
    if present.isEmpty, !isTrackedByKey { return setIfNothing(key) }
    return .script(
      orRemove ? Self.setOverOrRemove : Self.setOver, key,
      [.value(present, []), .value(value, footer)] + expiry)
  }

  /// Returns the command that stores the value if the key has none; its answer is null if it has.
  func setIfAbsent(_ key: RedisKey) -> RedisRequest {
    if footer.isEmpty { return setIfNothing(key) }
    return .script(Self.setIfNone, key, [.value(value, footer)] + expiry)
  }

  private func setIfNothing(_ key: RedisKey) -> RedisRequest {
    .command(["SET", .key(key), .value(value, footer)] + expiry + ["NX"])
  }

  private static let unlink = "redis.call('UNLINK',KEYS[1]) "

  /// What is shorter than the bytes behind a value is none, but the mark of a removal.
  private static let setIfNone = """
    if redis.call('STRLEN',KEYS[1])<\(RedisRecord.footerSize) \
    then return redis.call('SET',KEYS[1],unpack(ARGV)) end return false
    """

  private static let setAndRead =
    "local r=redis.call('SET',KEYS[1],unpack(ARGV)) redis.call('EXISTS',KEYS[1]) return r"

  private static let setOver = """
    \(takingFingerprint) if f~=ARGV[1] then return false end \
    local r=redis.call('SET',KEYS[1],unpack(ARGV,2)) redis.call('EXISTS',KEYS[1]) return r
    """

  private static let setOverOrRemove = """
    \(takingFingerprint) if f~=ARGV[1] then return false end \
    local r=redis.pcall('SET',KEYS[1],unpack(ARGV,2)) \
    redis.call(r.err and 'UNLINK' or 'EXISTS',KEYS[1]) return r
    """
}

// MARK: - Fingerprints

/// What tells values of a key apart: their length, and the whole of short ones or both ends of long
/// ones; nothing has the empty one.
///
/// The end of a value has its times to the millisecond, unless the form is plain.
extension StoredValue {
  private static let shortLength = 256

  private static let takingFingerprint = """
    local f='' if redis.call('EXISTS',KEYS[1])==1 then \
    local n=redis.call('STRLEN',KEYS[1]) f=n..':' \
    if n<=\(shortLength) then f=f..redis.call('GET',KEYS[1]) else \
    f=f..redis.call('GETRANGE',KEYS[1],0,\(shortLength / 2 - 1))\
    ..redis.call('GETRANGE',KEYS[1],-\(shortLength / 2),-1) end end
    """

  /// Returns the command that asks for the fingerprint of what a key has.
  static func fingerprint(of key: RedisKey) -> RedisRequest {
    .script("\(takingFingerprint) return f", key, isRepeatable: true)
  }

  /// Returns the command that removes a key if what it has is of this fingerprint; its answer is
  /// null if not.
  static func removal(of key: RedisKey, ifEqualTo fingerprint: Data) -> RedisRequest {
    .script(removeIfEqual, key, [.value(fingerprint, [])])
  }

  private static let removeIfEqual =
    "\(takingFingerprint) if f~=ARGV[1] then return false end \(unlink)return 1"

  /// The fingerprint of this value.
  var fingerprint: Data { Self.fingerprint(of: value, footer) }

  /// Returns the fingerprint of bytes and of those behind them.
  static func fingerprint(of value: Data, _ footer: [UInt8] = []) -> Data {
    let count = value.count + footer.count
    let head = Data("\(count):".utf8)
    if count <= shortLength { return head + value + footer }
    let part = shortLength / 2
    let (first, last) = (value.prefix(part), footer.suffix(part))
    return head + first + footer.prefix(part - first.count) + value.suffix(part - last.count)
      + last
  }
}

extension RedisCache {
  /// Returns the form of a value on the server; nil if its life is over at once.
  func stored(_ stamped: Stamped<Data>, isFill: Bool) -> StoredValue? {
    let (record, life) = RedisRecord.of(
      stamped, timeToLive, isFill: isFill, at: RedisRecord.now)
    if let life, life <= 0 { return nil }
    return StoredValue(
      value: stamped.value, footer: form == .stamped ? record.footer : [], life: life,
      isTrackedByKey: redis.loop.tracker.isByKey)
  }
}
