import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The versions of the values of a few keys, in a file that several processes map into their memory.
///
/// They are the truth that caches have copies of: no process waits for another one to read them.
final class SharedVersions: Sendable {
  /// The number of keys.
  static let keyCount = 8

  private enum Field: Int, CaseIterable {
    case lock, present, known, refused, kind
  }

  /// A way to write a key.
  enum Kind: Int, Sendable {
    case set, removal, removalByPredicate, removalOfAll
  }

  // The memory of the file, mapped as long as the process runs, and used by atomic operations only.
  private nonisolated(unsafe) let fields: UnsafeMutablePointer<Atomic<Int>>

  /// Maps a file, which is made as long as it has to be.
  init(_ path: String) throws {
    let count = 1 + Self.keyCount * Field.allCases.count
    let size = count * MemoryLayout<Atomic<Int>>.stride
    let file = open(path, O_RDWR | O_CREAT, 0o600)
    guard file >= 0, ftruncate(file, off_t(size)) == 0,
      let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
      memory != MAP_FAILED
    else { throw CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: path]) }
    close(file)
    fields = memory.bindMemory(to: Atomic<Int>.self, capacity: count)
  }

  private func field(_ field: Field, _ key: Int) -> UnsafeMutablePointer<Atomic<Int>> {
    fields + (1 + key * Field.allCases.count + field.rawValue)
  }

  /// The number of times that the server has begun or ended to throw values away by itself; the file
  /// begins with it, and the owner of the server counts.
  var lossMarks: Int { fields.pointee.load(ordering: .acquiring) }

  /// Becomes the only writer of a key; false if there is one.
  func tryToLock(_ key: Int) -> Bool {
    field(.lock, key).pointee.compareExchange(
      expected: 0, desired: 1, ordering: .acquiringAndReleasing
    ).exchanged
  }

  func unlock(_ key: Int) { field(.lock, key).pointee.store(0, ordering: .releasing) }

  /// The version that an origin answers.
  func present(_ key: Int) -> Int { field(.present, key).pointee.load(ordering: .acquiring) }

  /// Makes so many versions, as the only writer, and returns the last one.
  func add(_ count: Int, to key: Int) -> Int {
    field(.present, key).pointee.add(count, ordering: .acquiringAndReleasing).newValue
  }

  /// The version of the last write that is known to have succeeded.
  func known(_ key: Int) -> Int { field(.known, key).pointee.load(ordering: .acquiring) }

  func setKnown(_ version: Int, _ key: Int, by kind: Kind) {
    field(.kind, key).pointee.store(kind.rawValue, ordering: .relaxed)
    field(.known, key).pointee.store(version, ordering: .releasing)
  }

  /// What the last write of a key was that is known to have succeeded.
  func kind(_ key: Int) -> Kind {
    Kind(rawValue: field(.kind, key).pointee.load(ordering: .relaxed)) ?? .set
  }

  /// The version of the last set that the server is known to have refused.
  func refused(_ key: Int) -> Int { field(.refused, key).pointee.load(ordering: .acquiring) }

  func setRefused(_ version: Int, _ key: Int) {
    field(.refused, key).pointee.store(version, ordering: .releasing)
  }
}
