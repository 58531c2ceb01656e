import Foundation

/// A file for each value, made with system calls: written under another name, and then renamed.
struct FilePerValue: DiskContender {
  private let folder: String

  init(folder: String) {
    self.folder = folder
  }

  func renew() throws {
    try FileManager.default.makeNewFolder(folder)
  }

  func put(_ dataset: DiskDataset) throws {
    let draft = path(of: "draft")
    for number in dataset.values.indices {
      try write(dataset.values[number], at: draft)
      try SystemFile.move(draft, to: path(of: dataset.keys[number]))
    }
  }

  func get(_ dataset: DiskDataset) throws -> Int {
    try dataset.order.reduce(0) { sum, number in sum &+ (try glance(at: dataset.keys[number])) }
  }

  func contains(_ dataset: DiskDataset) throws -> Int {
    dataset.order.count { SystemFile.exists(path(of: dataset.keys[$0])) }
  }

  func remove(_ dataset: DiskDataset) throws {
    for key in dataset.keys { try SystemFile.delete(path(of: key)) }
  }

  func count() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: folder).count
  }

  func close() {}

  private func write(_ value: Data, at path: String) throws {
    let file = try SystemFile(making: path)
    defer { file.end() }
    try value.withUnsafeBytes { try file.put($0, at: 0) }
  }

  /// Reads a value into memory of its own, as a caller that keeps it would.
  private func glance(at key: String) throws -> Int {
    let file = try SystemFile(reading: path(of: key))
    defer { file.end() }
    let bytes = UnsafeMutableRawBufferPointer.allocate(
      byteCount: try file.length(), alignment: 16)
    defer { bytes.deallocate() }
    try file.get(bytes, at: 0)
    return UnsafeRawBufferPointer(bytes).glance
  }

  private func path(of key: String) -> String {
    folder + "/" + key
  }
}
