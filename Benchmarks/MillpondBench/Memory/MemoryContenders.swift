import Foundation
import MillpondCore
import MillpondSignals

/// The memory cache of this project.
struct MillpondMemory<Plain: BenchKey>: MemoryContender {
  private let cache: MemoryCache<Plain, Int>

  init(limit: Int) {
    cache = MemoryCache(countLimit: limit)
  }

  func number(for key: Plain) -> Int? {
    cache.now(key, Lookup())
  }

  func keep(_ value: Int, for key: Plain) {
    cache.set(value, for: key)
  }

  func count(among keys: [Plain]) -> Int {
    cache.count
  }
}

/// A dictionary under our own lock, without any policy.
struct DictionaryContender<Plain: BenchKey>: MemoryContender {
  private let values = Locked([Plain: Int]())

  init(limit: Int) {}

  func number(for key: Plain) -> Int? {
    values.withLock { $0[key] }
  }

  func keep(_ value: Int, for key: Plain) {
    values.withLock { $0[key] = value }
  }

  func count(among keys: [Plain]) -> Int {
    values.withLock { $0.count }
  }
}

/// A dictionary under our own lock that drops its oldest value.
struct RingContender<Plain: BenchKey>: MemoryContender {
  private let ring: Locked<Ring<Plain>>

  init(limit: Int) {
    ring = Locked(Ring(limit: limit))
  }

  func number(for key: Plain) -> Int? {
    ring.withLock { $0.values[key] }
  }

  func keep(_ value: Int, for key: Plain) {
    ring.withLock { $0.keep(value, for: key) }
  }

  func count(among keys: [Plain]) -> Int {
    ring.withLock { $0.values.count }
  }
}

/// The keys in the order of their arrival, with the oldest at `next` once the contender is full.
private struct Ring<Key: Hashable & Sendable> {
  private(set) var values: [Key: Int] = [:]
  private var order: [Key] = []
  private var next = 0
  private let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  mutating func keep(_ value: Int, for key: Key) {
    guard values.updateValue(value, forKey: key) == nil else { return }
    if order.count < limit {
      order.append(key)
    } else {
      values[order[next]] = nil
      order[next] = key
      next = next + 1 == limit ? 0 : next + 1
    }
  }
}

/// Foundation's.
///
/// On Linux (Swift 6.3) it is a dictionary under a lock, with each key wrapped once more. A full
/// one drops the cheapest value, and among equals the newest, which is the new key itself.
///
/// Sendable because NSCache may be used by any thread, without a lock.
final class NSCacheContender<Plain: BenchKey>: MemoryContender, @unchecked Sendable {
  private let cache = NSCache<Plain.Object, NumberObject>()

  init(limit: Int) {
    cache.countLimit = limit
  }

  deinit {
    // Otherwise its entries would leak: on Linux (Swift 6.3) they retain each other.
    cache.removeAllObjects()
  }

  func number(for key: Plain.Object) -> Int? {
    cache.object(forKey: key)?.number
  }

  func keep(_ value: NumberObject, for key: Plain.Object) {
    cache.setObject(value, forKey: key)
  }

  /// Counts one by one, because the class does not report it.
  func count(among keys: [Plain.Object]) -> Int {
    keys.count { number(for: $0) != nil }
  }

  static func keys(_ dataset: MemoryDataset<Plain>) -> [Plain.Object] {
    dataset.objects
  }

  static func values(_ dataset: MemoryDataset<Plain>) -> [NumberObject] {
    dataset.numberObjects
  }
}
