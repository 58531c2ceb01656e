import Foundation
import MillpondTesting

/// The keys and values of some rows: made once, before anything is measured.
struct DiskDataset: Sendable {
  /// Keys of 24 characters that are also valid as file names.
  let keys: [String]
  let values: [Data]

  /// The order of the gets.
  let order: [Int]

  /// The size of each value, in bytes.
  let size: Int

  init(size: Int, count: Int) {
    self.size = size
    keys = (0..<count).map { "value-" + String(String(1_000_000_000_000_000_000 + $0).suffix(18)) }
    values = (0..<count).map { .numbered($0, size) }
    order = disorder(of: count)
  }

  /// The expected sum of a get of each value.
  var sum: Int {
    values.reduce(0) { $0 + $1.glance }
  }
}

extension Data {
  /// Returns bytes that look random and differ for each number.
  static func numbered(_ number: Int, _ size: Int) -> Data {
    var random = SeededGenerator(seed: UInt64(number))
    let words = (0..<size / 8 + 1).map { _ in random.next() }
    return words.withUnsafeBytes { Data($0.prefix(size)) }
  }

  /// A digest of a value: its length and some of its bytes.
  var glance: Int {
    withUnsafeBytes { $0.glance }
  }
}

extension UnsafeRawBufferPointer {
  /// The same digest as of ``Foundation/Data``.
  var glance: Int {
    isEmpty ? 0 : count + Int(self[0]) + Int(self[count / 2]) << 8 + Int(self[count - 1]) << 16
  }
}
