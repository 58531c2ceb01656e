import Foundation

/// Foundation's atomic writes: a file for each value, replaced as a whole.
///
/// On Linux they wait for the disk.
struct FoundationFilePerValue: DiskContender {
  private let folder: URL

  init(folder: String) {
    self.folder = URL(filePath: folder, directoryHint: .isDirectory)
  }

  func renew() throws {
    try FileManager.default.makeNewFolder(folder.path(percentEncoded: false))
  }

  func put(_ dataset: DiskDataset) throws {
    for number in dataset.values.indices {
      try dataset.values[number].write(to: url(of: dataset.keys[number]), options: .atomic)
    }
  }

  func get(_ dataset: DiskDataset) throws -> Int {
    try dataset.order.reduce(0) { sum, number in
      sum &+ (try Data(contentsOf: url(of: dataset.keys[number])).glance)
    }
  }

  func contains(_ dataset: DiskDataset) throws -> Int {
    dataset.order.count {
      FileManager.default.fileExists(atPath: url(of: dataset.keys[$0]).path(percentEncoded: false))
    }
  }

  func remove(_ dataset: DiskDataset) throws {
    for key in dataset.keys { try FileManager.default.removeItem(at: url(of: key)) }
  }

  func count() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)).count
  }

  func close() {}

  private func url(of key: String) -> URL {
    folder.appending(path: key, directoryHint: .notDirectory)
  }
}
