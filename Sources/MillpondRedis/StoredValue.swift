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

  /// Returns the command that stores the value.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - options: Further options, such as `NX`.
  func set(_ key: RedisKey, _ options: [RedisArgument]) -> RedisRequest {
    let value = RedisArgument.value(value, footer)
    let expiry: [RedisArgument] = life.map { ["PX", .number($0)] } ?? []
    // The server tracks what a connection has read, and forgets that at a write, also at one of
    // the same connection. The script reads the key in the same step.
    return isTrackedByKey
      ? .command(["EVAL", .text(Self.setAndRead), "1", .key(key), value] + expiry + options)
      : .command(["SET", .key(key), value] + expiry + options)
  }

  private static let setAndRead =
    "local r=redis.call('SET',KEYS[1],unpack(ARGV)) redis.call('EXISTS',KEYS[1]) return r"

  /// Returns the command that removes the key if it still has this value.
  ///
  /// It compares the length and the last bytes, which have the times of the value to the
  /// millisecond, so it need not keep the value. A value that is taken for this one is missed by the
  /// next get, and not wrong.
  func takeBack(_ key: RedisKey) -> RedisRequest {
    let end = footer.suffix(Self.comparedBytes)
    let rest = value.suffix(Self.comparedBytes - end.count)
    return .command(
      "EVAL", .text(Self.removeIfEqual), "1", .key(key),
      .number(Int64(value.count + footer.count)), .value(rest, Array(end)))
  }

  private static let comparedBytes = 64

  private static let removeIfEqual = """
    if redis.call('STRLEN',KEYS[1])==tonumber(ARGV[1]) \
    and redis.call('GETRANGE',KEYS[1],-math.max(1,#ARGV[2]),-1)==ARGV[2] \
    then return redis.call('UNLINK',KEYS[1]) end return 0
    """
}

extension RedisCache {
  /// Returns the form of a value on the server; nil if its life is over at once.
  func stored(_ stamped: Stamped<Data>, isFill: Bool) -> StoredValue? {
    let (record, life) = RedisRecord.of(
      stamped, timeToLive, isFill: isFill, at: SocketCalls.wallTime())
    if let life, life <= 0 { return nil }
    return StoredValue(
      value: stamped.value, footer: form == .stamped ? record.footer : [], life: life,
      isTrackedByKey: redis.loop.tracker.isByKey)
  }
}
