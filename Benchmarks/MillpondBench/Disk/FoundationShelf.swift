import Foundation

/// Foundation's atomic writes: a file for each value, replaced as a whole.
///
/// On Linux they wait for the disk.
struct FoundationShelf: DiskShelf {
  private let folder: URL

  init(folder: String) {
    self.folder = URL(filePath: folder, directoryHint: .isDirectory)
  }

  func renew() throws {
    try FileManager.default.makeNewFolder(folder.path(percentEncoded: false))
  }

  func put(_ goods: Goods) throws {
    for number in goods.values.indices {
      try goods.values[number].write(to: url(of: goods.keys[number]), options: .atomic)
    }
  }

  func get(_ goods: Goods) throws -> Int {
    try goods.order.reduce(0) { sum, number in
      sum &+ (try Data(contentsOf: url(of: goods.keys[number])).glance)
    }
  }

  func contains(_ goods: Goods) throws -> Int {
    goods.order.count {
      FileManager.default.fileExists(atPath: url(of: goods.keys[$0]).path(percentEncoded: false))
    }
  }

  func remove(_ goods: Goods) throws {
    for key in goods.keys { try FileManager.default.removeItem(at: url(of: key)) }
  }

  func count() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)).count
  }

  func close() {}

  private func url(of key: String) -> URL {
    folder.appending(path: key, directoryHint: .notDirectory)
  }
}
