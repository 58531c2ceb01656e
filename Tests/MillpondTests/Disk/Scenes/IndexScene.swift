import Foundation
import MillpondCore

@testable import Millpond

/// An index, and short ways to tell it something.
final class IndexScene {
  var index: DiskIndex
  private var offset: UInt32 = 0

  init(costLimit: Int = 10_000, _ policy: EvictionPolicy = .leastRecentlyUsed) {
    index = DiskIndex(costLimit: costLimit, policy)
  }

  static func telling(
    _ key: String, _ content: Told.Content = .value(Data("x")), _ revision: Revision = .next()
  ) -> Told {
    Told(
      key: key, hash: KeyHash(of: key), content, storedAt: .now, revision: revision)
  }

  /// Tells a value, that is not written yet.
  @discardableResult
  func set(
    _ key: String, cost: Int = 100, _ revision: Revision = .next()
  ) -> (Told, DiskIndex.Consequence) {
    let telling = Self.telling(key, .value(Data("x")), revision)
    return (telling, index.set(telling, cost: cost))
  }

  @discardableResult
  func remove(_ key: String, _ revision: Revision = .next()) -> DiskIndex.Consequence {
    index.remove(Self.telling(key, .removal, revision))
  }

  /// Notes that a telling has been written; of a large value, with a file of this number.
  ///
  /// - Returns: The files that are not needed any more.
  @discardableResult
  func settle(_ telling: Told, file: UInt64? = nil) -> [UInt64] {
    if let file { telling.file = LargeValue(number: file, length: 1_000, checksum: 0) }
    var files: [UInt64] = []
    index.settle(telling, at: nextSpot(), &files)
    return files
  }

  /// Tells a value, and notes that it has been written.
  @discardableResult
  func put(_ key: String, cost: Int = 100, file: UInt64? = nil) -> [UInt64] {
    let (telling, consequence) = set(key, cost: cost)
    return consequence.files + settle(telling, file: file)
  }

  func nextSpot(size: UInt32 = 80) -> Spot {
    offset += size
    return Spot(segment: 1, offset: offset, size: size, expiry: .max)
  }

  func lease(_ key: String, _ value: LargeValue) -> Bool {
    index.lease(KeyHash(of: key), value)
  }

  func giveBack(_ number: UInt64) -> Bool {
    index.giveBack(number)
  }

  /// Whether a fill of the key is taken in.
  func fill(_ key: String, _ token: FillToken) -> Bool {
    let telling = Self.telling(key, .value(Data("fill")), .none)
    return index.fill(telling, cost: 100, token).isToBeWritten
  }

  func removeAll(_ revision: Revision = .next()) -> (isFirst: Bool, DiskIndex.Consequence) {
    var consequence = DiskIndex.Consequence()
    let isFirst = index.removeAll(revision, &consequence)
    return (isFirst, consequence)
  }

  /// The files that are not needed any more; nil if the record was not forgotten.
  func forget(_ key: String, at spot: Spot) -> [UInt64]? {
    var files: [UInt64] = []
    return index.forget(KeyHash(of: key), at: spot, &files) ? files : nil
  }

  func fail(_ telling: Told) -> [UInt64] {
    var files: [UInt64] = []
    index.fail(telling, &files)
    return files
  }

  func finishLoading(files: Set<UInt64>) -> Set<UInt64> {
    index.finishLoading(files: files)
  }

  func spot(_ key: String) -> Spot? {
    if case .spot(let spot) = index.peek(KeyHash(of: key)) { spot } else { nil }
  }

  func told(_ key: String) -> Told? {
    if case .told(let telling) = index.peek(KeyHash(of: key)) { telling } else { nil }
  }

  func has(_ key: String) -> Bool {
    index.peek(KeyHash(of: key)) != nil
  }

  /// Which keys there are, the first to go first.
  func keys(of keys: [String]) -> [String] {
    var found: [String] = []
    index.forEach { hash, _ in found += keys.filter { KeyHash(of: $0) == hash } }
    return found
  }
}

extension DiskIndex {
  /// What is there, those first that would go first.
  func forEach(_ body: (KeyHash, Finding) -> Void) {
    order.forEach { body(hashes[$0], finding($0)) }
  }
}
