import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting

@testable import Millpond

extension ScheduleEffort {
  /// Fewer schedules, since each opens a folder.
  static var disk: ScheduleEffort { ScheduleEffort(searchLimit: 25, randomCount: 40) }
}

/// A folder of a program, which is removed with it.
final class DiskProgram: @unchecked Sendable {
  let folder = root.appendingPathComponent("millpond-\(UUID().uuidString)")
  private let byteLimit: Int

  /// In memory, if the system has a folder there.
  private static let root =
    FileManager.default.fileExists(atPath: "/dev/shm")
    ? URL(filePath: "/dev/shm") : FileManager.default.temporaryDirectory

  init(byteLimit: Int = .mebibytes(1)) {
    self.byteLimit = byteLimit
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Opens a cache of the folder, for which time stands still.
  func open() -> DiskCache {
    var options = DiskOptions(byteLimit: byteLimit, policy: .leastRecentlyUsed)
    options.now = { WallTime(microseconds: 1_800_000_000_000_000) }
    return DiskCache(directory: folder, options)
  }

  /// Copies the folder as it is now, which is what a kill of the process would leave.
  func copied() -> DiskProgram {
    let copy = DiskProgram(byteLimit: byteLimit)
    try? FileManager.default.copyItem(at: folder, to: copy.folder)
    return copy
  }

  private var files: [URL] {
    let files = try? FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return files ?? []
  }

  /// The names of the files of large values.
  var valueFiles: [String] {
    files.map(\.lastPathComponent).filter { $0.hasSuffix(FileName.valueSuffix) }
  }

  /// The size of all files.
  var byteCount: Int { files.reduce(0) { $0 + ((try? Data(contentsOf: $1))?.count ?? 0) } }

  /// Whether a file has these bytes.
  func contains(_ bytes: Data) -> Bool {
    files.contains { (try? Data(contentsOf: $0))?.range(of: bytes) != nil }
  }
}

extension ScheduleProgram {
  /// Checks that each key has the same value when the folder has been closed and opened again.
  ///
  /// - Returns: The values then.
  @discardableResult
  func expectSame(_ keys: [String], of cache: DiskCache, in disk: DiskProgram) -> [Witness<Data>] {
    let before = keys.map { _ in Witness<Data>() }
    whenQuiet {
      for (key, seen) in zip(keys, before) { seen.watch(cache.get(key)) }
      cache.close()
      return nil
    }
    let after = reopen(keys, in: disk)
    whenQuiet {
      for ((key, before), after) in zip(zip(keys, before), after) {
        if let complaint = before.complaint() { return complaint }
        if before.values != after.values {
          return "\(key) was \(before.text), and then \(after.text)"
        }
      }
      return nil
    }
    return after
  }

  /// Opens a folder, and looks at the values.
  func reopen(_ keys: [String], in disk: DiskProgram) -> [Witness<Data>] {
    reopen(keys, in: Shared(disk))
  }

  /// Opens a folder that the program makes, and looks at the values.
  func reopen(_ keys: [String], in disk: Shared<DiskProgram?>) -> [Witness<Data>] {
    let found = keys.map { _ in Witness<Data>() }
    whenQuiet {
      guard let cache = disk.value?.open() else { return "there is no folder" }
      for (key, seen) in zip(keys, found) { seen.watch(cache.get(key)) }
      cache.close()
      return nil
    }
    whenQuiet {
      for seen in found { if let complaint = seen.complaint() { return complaint } }
      return found.contains { !$0.isCompleted } ? "the folder can't be read" : nil
    }
    return found
  }
}

extension Witness<Data> {
  /// The first bytes of the values, as text.
  var text: String { values.map { String(decoding: $0.prefix(1), as: UTF8.self) }.joined() }
}

extension Data {
  /// A value that begins with a digit.
  static func bytes(_ digit: Int, count: Int = 1) -> Data {
    Data(repeating: UInt8(48 + digit), count: count)
  }

  /// A value that is stored in a file of its own.
  static func file(_ digit: Int) -> Data { .bytes(digit, count: DiskLimits.largeSize) }

  /// A value that is not found in any file by chance.
  static var secret: Data { Data("a value of the former user".utf8) }
}
