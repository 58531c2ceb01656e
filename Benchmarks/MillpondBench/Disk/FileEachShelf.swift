import Foundation

/// A file for each value, made with system calls: written under another name, and then renamed.
struct FileEachShelf: DiskShelf {
  private let folder: String

  init(folder: String) {
    self.folder = folder
  }

  func renew() throws {
    try FileManager.default.makeNewFolder(folder)
  }

  func put(_ goods: Goods) throws {
    let draft = path(of: "draft")
    for number in goods.values.indices {
      try write(goods.values[number], at: draft)
      try SystemFile.move(draft, to: path(of: goods.keys[number]))
    }
  }

  func get(_ goods: Goods) throws -> Int {
    try goods.order.reduce(0) { sum, number in sum &+ (try glance(at: goods.keys[number])) }
  }

  func contains(_ goods: Goods) throws -> Int {
    goods.order.count { SystemFile.exists(path(of: goods.keys[$0])) }
  }

  func remove(_ goods: Goods) throws {
    for key in goods.keys { try SystemFile.delete(path(of: key)) }
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
