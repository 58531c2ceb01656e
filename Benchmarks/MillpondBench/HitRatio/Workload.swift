import Foundation
import MillpondTesting

/// The keys that a cache is asked for, in order.
struct Workload {
  let name: String
  let keys: [UInt64]
}

extension Workload {
  /// Reads a trace: keys of 8 bytes, little-endian, compressed by xz if the name of the file ends
  /// so.
  ///
  /// - Throws: When it can't be read; ``Trouble`` when it is cut or empty.
  init(traceAt file: URL) throws {
    let bytes = try file.pathExtension == "xz" ? decompressed(file) : Data(contentsOf: file)
    if bytes.isEmpty || !bytes.count.isMultiple(of: 8) {
      throw Trouble("\(file.path): not a number of keys of 8 bytes, or it needs the command xz")
    }
    name = file.lastPathComponent.split(separator: ".").first.map(String.init) ?? ""
    keys = bytes.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: 8).map {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self))
      }
    }
  }
}

/// Returns no bytes if that fails.
private func decompressed(_ file: URL) throws -> Data {
  let (process, output) = (Process(), Pipe())
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = ["xz", "-dc", "--", file.path]
  process.standardOutput = output
  try process.run()
  let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  return process.terminationStatus == 0 ? bytes : Data()
}

/// Generated workloads, the same in every run, in patterns that are typical of caches.
struct WorkloadGenerator {
  /// The approximate number of keys of each.
  let length: Int

  private var random = SeededGenerator(seed: 0x6D69_6C6C_706F_6E64)

  /// The first of the keys that do not recur.
  private let passing: UInt64 = 1 << 32

  init(length: Int) {
    self.length = length
  }

  /// Returns one workload of each kind.
  mutating func all() -> [Workload] {
    [
      Workload(name: "zipf-0.8", keys: zipf(0.8, ranks: length / 10)),
      Workload(name: "zipf-0.99", keys: zipf(0.99, ranks: length / 10)),
      Workload(name: "zipf-scans", keys: zipfWithScans()),
      Workload(name: "loop", keys: loopAmongPassing()),
      Workload(name: "phases", keys: phases()),
      Workload(name: "uniform", keys: (0..<length).map { _ in number(below: length / 10) }),
    ]
  }

  private mutating func number(below bound: Int) -> UInt64 {
    .random(in: 0..<UInt64(bound), using: &random)
  }

  /// Returns popular keys, and ever less popular ones: the second occurs 2^`exponent` times less
  /// often than the first, the third 3^`exponent` times, and so on.
  private mutating func zipf(_ exponent: Double, ranks count: Int) -> [UInt64] {
    var sum = 0.0
    let cumulated = (1...count).map { rank in
      sum += pow(Double(rank), -exponent)
      return sum
    }
    return (0..<length).map { _ in
      let sought = Double.random(in: 0..<sum, using: &random)
      var ranks = 0..<cumulated.count - 1
      while !ranks.isEmpty {
        let middle = ranks.lowerBound + ranks.count / 2
        ranks =
          cumulated[middle] > sought ? ranks.lowerBound..<middle : middle + 1..<ranks.upperBound
      }
      return UInt64(ranks.lowerBound)
    }
  }

  /// Returns popular keys, with a quarter of the accesses in runs of keys that do not recur.
  private mutating func zipfWithScans() -> [UInt64] {
    let round = length / 40
    return zipf(0.99, ranks: length / 20).enumerated().map { place, key in
      place % round < round * 3 / 4 ? key : passing + UInt64(place)
    }
  }

  /// Returns a loop over a bit more than a tenth of all keys; every eleventh access is for a key
  /// that does not recur.
  private func loopAmongPassing() -> [UInt64] {
    (0..<length).map { place in
      place % 11 == 0 ? passing + UInt64(place) : UInt64(place % (length / 90))
    }
  }

  /// Returns new and recent keys, then a loop over a bit more than a tenth of all, then new ones
  /// again.
  private mutating func phases() -> [UInt64] {
    let loop = (0..<length / 3).map { UInt64($0 % (length / 25)) }
    return recency(from: passing) + loop + recency(from: 2 * passing)
  }

  private mutating func recency(from first: UInt64) -> [UInt64] {
    var newest = first
    return (0..<length / 3).map { _ in
      if Bool.random(using: &random) {
        newest += 1
        return newest
      }
      let age = -log(Double.random(in: 0.000_001..<1, using: &random)) * Double(length) / 210
      return newest - min(UInt64(age), newest - first)
    }
  }
}
