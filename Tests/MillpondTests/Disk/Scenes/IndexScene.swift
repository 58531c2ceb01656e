import Foundation
import MillpondCore

@testable import Millpond

/// An index, with short ways to write to it.
final class IndexScene {
  var index: DiskIndex
  private var offset: UInt32 = 0

  init(costLimit: Int = 10_000, _ policy: EvictionPolicy = .leastRecentlyUsed) {
    index = DiskIndex(costLimit: costLimit, policy)
  }

  static func write(
    _ key: String, _ content: DiskWrite.Content = .value(Data("x")), cost: Int = 100,
    _ revision: Revision = .next(), _ token: FillToken? = nil
  ) -> DiskWrite {
    let write = DiskWrite(
      key: key, content, DiskExpiry(storedAt: .now), at: .now, revision: revision, token)
    write.cost = cost
    return write
  }

  /// Sets a value, which is not written yet.
  @discardableResult
  func set(
    _ key: String, cost: Int = 100, _ revision: Revision = .next()
  ) -> (DiskWrite, DiskIndex.Consequence) {
    let write = Self.write(key, cost: cost, revision)
    return (write, index.decide(write))
  }

  @discardableResult
  func remove(_ key: String, _ revision: Revision = .next()) -> DiskIndex.Consequence {
    index.decide(Self.write(key, .removal, cost: 0, revision))
  }

  /// Notes that a write has been written; of a large value, with a file of this number.
  ///
  /// - Returns: The files that are not needed any more.
  @discardableResult
  func settle(_ write: DiskWrite, file: UInt64? = nil) -> [UInt64] {
    if let file { write.file = FileValue(number: file, length: 1_000, checksum: 0) }
    index.settle(write, at: nextLocation())
    return index.takeConsequence().files
  }

  /// Sets a value, and records that it was written.
  @discardableResult
  func put(_ key: String, cost: Int = 100, file: UInt64? = nil) -> [UInt64] {
    let (write, consequence) = set(key, cost: cost)
    return consequence.files + settle(write, file: file)
  }

  func nextLocation(size: UInt32 = 80) -> RecordLocation {
    offset += size
    return RecordLocation(segment: 1, offset: offset, size: size, expiry: .max)
  }

  func lease(_ key: String, _ value: FileValue) -> Bool {
    index.lease(KeyHash(of: key), value)
  }

  func giveBack(_ number: UInt64) -> Bool {
    index.giveBack(number)
  }

  /// Returns whether a fill of the key is admitted.
  func fill(_ key: String, _ token: FillToken) -> Bool {
    index.decide(Self.write(key, .value(Data("fill")), .none, token)).isToBeWritten
  }

  /// Removes everything.
  func removeAll(_ revision: Revision = .next()) -> (isFirst: Bool, DiskIndex.Consequence) {
    let consequence = index.decide(Self.write("", .removalOfAll, cost: 0, revision))
    return (consequence.isToBeWritten, consequence)
  }

  /// Returns the files that are not needed any more; nil if the record was not forgotten.
  func forget(_ key: String, at location: RecordLocation) -> [UInt64]? {
    index.forget(KeyHash(of: key), at: location)?.files
  }

  func fail(_ write: DiskWrite) -> [UInt64] {
    index.fail(write).files
  }

  func finishLoading(files: Set<UInt64>) -> Set<UInt64> {
    index.finishLoading(files: files)
  }

  func location(_ key: String) -> RecordLocation? {
    if case .location(let location) = index.peek(KeyHash(of: key)) { location } else { nil }
  }

  func pending(_ key: String) -> DiskWrite? {
    if case .write(let write) = index.peek(KeyHash(of: key)) { write } else { nil }
  }

  func has(_ key: String) -> Bool {
    index.peek(KeyHash(of: key)) != nil
  }

  /// Returns the present ones of the keys, the first to be evicted first.
  func keys(of keys: [String]) -> [String] {
    var found: [String] = []
    index.forEach { hash, _ in found += keys.filter { KeyHash(of: $0) == hash } }
    return found
  }
}

extension DiskIndex {
  /// Visits the contents, the first to be evicted first.
  func forEach(_ body: (KeyHash, IndexedValue) -> Void) {
    order.forEach { body(hashes[$0], finding($0)) }
  }
}
