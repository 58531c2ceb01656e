import Foundation
import MillpondSignals

/// One file to which only the bytes of each value are appended: the least possible work.
final class SingleFile: DiskContender {
  private let folder: String
  private let file = Locked<SystemFile?>(nil)

  init(folder: String) {
    self.folder = folder
  }

  func renew() throws {
    close()
    try FileManager.default.makeNewFolder(folder)
    let new = try SystemFile(making: folder + "/values")
    file.withLock { $0 = new }
  }

  func put(_ dataset: DiskDataset) throws {
    let file = try opened()
    for number in dataset.values.indices {
      try dataset.values[number].withUnsafeBytes { try file.put($0, at: number * dataset.size) }
    }
  }

  func get(_ dataset: DiskDataset) throws -> Int {
    let file = try opened()
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: dataset.size, alignment: 16)
    defer { bytes.deallocate() }
    return try dataset.order.reduce(0) { sum, number in
      try file.get(bytes, at: number * dataset.size)
      return sum &+ UnsafeRawBufferPointer(bytes).glance
    }
  }

  /// Returns the number of keys, because it cannot look one up.
  func contains(_ dataset: DiskDataset) throws -> Int {
    dataset.keys.count
  }

  /// Empties the file, because it cannot remove one value.
  func remove(_ dataset: DiskDataset) throws {
    try renew()
  }

  /// Returns one or none, because it does not know the ends of values.
  func count() throws -> Int {
    try opened().length() == 0 ? 0 : 1
  }

  func close() {
    let old = file.withLock { file in
      defer { file = nil }
      return file
    }
    old?.end()
  }

  private func opened() throws -> SystemFile {
    guard let file = file.withLock({ $0 }) else {
      throw FileTrouble(path: folder, reason: "not open")
    }
    return file
  }
}
