import Foundation
import Millpond

/// The disk cache of this project.
final class MillpondDisk: DiskContender {
  static let name = "ours"

  let cache: DiskCache

  init(folder: String) throws {
    // More than any row needs, so that nothing is dropped.
    cache = DiskCache(directory: URL(filePath: folder), byteLimit: .mebibytes(1_024))
    _ = try count()
  }

  deinit { try? close() }

  /// Waits in batches, because the write queue is limited.
  func put(_ dataset: DiskDataset) throws {
    var waiting = 0
    for (key, value) in zip(dataset.keys, dataset.values) {
      cache.set(value, for: key)
      waiting += dataset.size
      if waiting >= .mebibytes(32) {
        try awaited(cache.flush())
        waiting = 0
      }
    }
    try awaited(cache.flush())
  }

  func get(_ dataset: DiskDataset) -> Int {
    let answers = SignalSum(of: dataset.keys.count)
    for number in dataset.order { answers.add(cache.get(dataset.keys[number])) { $0.glance } }
    return answers.total()
  }

  func contains(_ dataset: DiskDataset) -> Int {
    let answers = SignalSum(of: dataset.keys.count)
    for number in dataset.order {
      answers.add(cache.contains(dataset.keys[number])) { $0 ? 1 : 0 }
    }
    return answers.total()
  }

  func remove(_ dataset: DiskDataset) throws {
    for key in dataset.keys { cache.remove(key) }
    try awaited(cache.flush())
  }

  func count() throws -> Int { try awaited(cache.count) }

  func close() throws { try awaited(cache.close()) }
}

/// One file to which only the bytes of each value are appended: the least possible work.
final class SingleFile: DiskContender {
  static let name = "one file"

  private let file: Int32

  init(folder: String) throws {
    file = try opened(folder + "/values", O_RDWR | O_CREAT)
  }

  deinit { Foundation.close(file) }

  func put(_ dataset: DiskDataset) throws {
    for (number, value) in dataset.values.enumerated() {
      let count = value.withUnsafeBytes {
        pwrite(file, $0.baseAddress, $0.count, off_t(number * dataset.size))
      }
      if count != value.count { throw Trouble(path: Self.name) }
    }
  }

  func get(_ dataset: DiskDataset) throws -> Int {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: dataset.size, alignment: 16)
    defer { bytes.deallocate() }
    return try dataset.order.reduce(0) { sum, number in
      let count = pread(file, bytes.baseAddress, bytes.count, off_t(number * dataset.size))
      if count != bytes.count { throw Trouble(path: Self.name) }
      return sum &+ UnsafeRawBufferPointer(bytes).glance
    }
  }
}

/// A file for each value, made with system calls: written under another name, and then renamed.
struct FilePerValue: DiskContender {
  static let name = "file each"

  let folder: String

  func put(_ dataset: DiskDataset) throws {
    let draft = folder + "/draft"
    for (key, value) in zip(dataset.keys, dataset.values) {
      let file = try opened(draft, O_WRONLY | O_CREAT | O_EXCL)
      let count = value.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      Foundation.close(file)
      if count != value.count || rename(draft, path(key)) != 0 { throw Trouble(path: draft) }
    }
  }

  /// Reads each value into memory of its own, as a caller that keeps it would.
  func get(_ dataset: DiskDataset) throws -> Int {
    try dataset.order.reduce(0) { sum, number in
      let file = try opened(path(dataset.keys[number]), O_RDONLY)
      defer { Foundation.close(file) }
      var status = stat()
      guard fstat(file, &status) == 0 else { throw Trouble(path: folder) }
      let bytes = UnsafeMutableRawBufferPointer.allocate(
        byteCount: Int(status.st_size), alignment: 16)
      defer { bytes.deallocate() }
      if read(file, bytes.baseAddress, bytes.count) != bytes.count { throw Trouble(path: folder) }
      return sum &+ UnsafeRawBufferPointer(bytes).glance
    }
  }

  func contains(_ dataset: DiskDataset) -> Int {
    dataset.order.count { access(path(dataset.keys[$0]), F_OK) == 0 }
  }

  func remove(_ dataset: DiskDataset) throws {
    for key in dataset.keys where unlink(path(key)) != 0 { throw Trouble(path: path(key)) }
  }

  private func path(_ key: String) -> String { folder + "/" + key }
}

/// Foundation's atomic writes: a file for each value, replaced as a whole.
///
/// On Linux they wait for the disk.
struct FoundationFiles: DiskContender {
  static let name = "Foundation"

  let folder: String

  func put(_ dataset: DiskDataset) throws {
    for (key, value) in zip(dataset.keys, dataset.values) {
      try value.write(to: URL(filePath: folder + "/" + key), options: .atomic)
    }
  }

  func get(_ dataset: DiskDataset) throws -> Int {
    try dataset.keys.reduce(0) {
      $0 &+ (try Data(contentsOf: URL(filePath: folder + "/" + $1)).glance)
    }
  }
}

private func opened(_ path: String, _ flags: Int32) throws(Trouble) -> Int32 {
  let file = open(path, flags | O_CLOEXEC, 0o600)
  if file < 0 { throw Trouble(path: path) }
  return file
}
