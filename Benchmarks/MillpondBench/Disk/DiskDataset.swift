import Foundation

/// The keys and values of some rows: made once, before anything is measured.
struct DiskDataset: Sendable {
  let keys: [String]
  let values: [Data]

  /// The order of the gets.
  let order: [Int]

  /// The size of each value, in bytes.
  let size: Int

  init(size: Int, count: Int) {
    self.init(
      size: size, keys: (0..<count).map(Self.key), values: (0..<count).map { .numbered($0, size) })
  }

  private init(size: Int, keys: [String], values: [Data]) {
    self.size = size
    self.keys = keys
    self.values = values
    order = Visits.disorderly(0..<keys.count, threads: 1).ofThreads[0]
  }

  /// The expected sum of a get of each value.
  var sum: Int {
    values.reduce(0) { $0 + $1.glance }
  }

  /// Returns the first `count` of them.
  func firstFew(_ count: Int) -> DiskDataset {
    DiskDataset(size: size, keys: Array(keys.prefix(count)), values: Array(values.prefix(count)))
  }

  /// Returns a key of 24 characters that is also valid as a file name.
  static func key(_ number: Int) -> String {
    let digits = String(number)
    return "value-" + String(repeating: "0", count: max(0, 18 - digits.count)) + digits
  }
}

extension Data {
  /// Returns bytes that look random and differ for each number.
  static func numbered(_ number: Int, _ size: Int) -> Data {
    var data = Data(count: size)
    data.withUnsafeMutableBytes { bytes in
      var place = UInt64(truncatingIfNeeded: number)
      var first = 0
      while first < bytes.count {
        place = place &* 0x5851_F42D_4C95_7F2D &+ 0x1405_7B7E_F767_814F
        Swift.withUnsafeBytes(of: place) { word in
          bytes[first...].copyBytes(from: word.prefix(bytes.count - first))
        }
        first += 8
      }
    }
    return data
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
