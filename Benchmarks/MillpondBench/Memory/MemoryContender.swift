import Foundation
import MillpondCore
import MillpondSignals

/// A store of values: our cache, or one that it is compared with.
///
/// Generic code is specialised for each contender, so that none pays for the abstraction.
protocol MemoryContender: Sendable {
  associatedtype Key
  associatedtype Value

  static var name: String { get }
  static func key(_ text: String) -> Key
  static func value(_ number: Int) -> Value

  /// Keeps at most `limit` values, if it has a policy at all.
  init(limit: Int)

  func number(for key: Key) -> Int?
  func keep(_ value: Value, for key: Key)
}

extension MemoryContender where Key == String, Value == Int {
  static func key(_ text: String) -> String { text }
  static func value(_ number: Int) -> Int { number }
}

/// The memory cache of this project.
struct MillpondMemory: MemoryContender {
  static let name = "ours"
  private let cache: MemoryCache<String, Int>

  init(limit: Int) { cache = MemoryCache(countLimit: limit) }
  func number(for key: String) -> Int? { cache.now(key, Lookup()) }
  func keep(_ value: Int, for key: String) { cache.set(value, for: key) }
}

/// A dictionary under our own lock, without any policy.
struct DictionaryContender: MemoryContender {
  static let name = "dictionary"
  private let values = Locked([String: Int]())

  init(limit: Int) {}
  func number(for key: String) -> Int? { values.withLock { $0[key] } }
  func keep(_ value: Int, for key: String) { values.withLock { $0[key] = value } }
}

/// Foundation's.
///
/// On Linux (Swift 6.3) it is a dictionary under a lock, with each key wrapped once more. A full
/// one drops the cheapest value, and among equals the newest, which is the new key itself.
///
/// Sendable because NSCache may be used by any thread, without a lock.
final class NSCacheContender: MemoryContender, @unchecked Sendable {
  static var name: String { "NSCache" }
  private let cache = NSCache<NSString, NumberObject>()

  init(limit: Int) { cache.countLimit = limit }

  // Otherwise its entries would leak: on Linux (Swift 6.3) they retain each other.
  deinit { cache.removeAllObjects() }

  func number(for key: NSString) -> Int? { cache.object(forKey: key)?.number }
  func keep(_ value: NumberObject, for key: NSString) { cache.setObject(value, forKey: key) }
  static func key(_ text: String) -> NSString { NSString(string: text) }
  static func value(_ number: Int) -> NumberObject { NumberObject(number) }
}

/// A value as an object.
final class NumberObject: Sendable {
  let number: Int

  init(_ number: Int) {
    self.number = number
  }
}
