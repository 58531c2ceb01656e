import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Synchronization

@testable import Millpond

/// A fresh folder, that is removed with the test.
final class DiskScene: Sendable {
  let folder: URL
  private let opened = Atomic(0)

  init() {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("millpond-\(UUID().uuidString)")
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  /// A cache of the folder that shares nothing with the one before, which must be gone: only
  /// what is on disk is there.
  ///
  /// Each has another limit, so that it can't take over an open store.
  func open(_ byteLimit: Int = .mebibytes(64)) -> DiskCache {
    let number = opened.wrappingAdd(1, ordering: .relaxed).newValue
    return DiskCache(directory: folder, byteLimit: byteLimit + number)
  }

  /// Opens a cache, uses it and waits until all is written.
  func fill(_ byteLimit: Int = .mebibytes(64), _ use: (DiskCache) -> Void) async throws {
    let cache = open(byteLimit)
    use(cache)
    try await cache.flush().value
  }

  func file(_ key: String) -> URL {
    folder.appendingPathComponent(EntryName(of: key).fileName)
  }

  /// All names in the folder but that of the lock.
  var names: [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    return (names ?? []).filter { $0 != Folder.lockName }.sorted()
  }

  /// The sizes of the files of the entries together.
  var bytesOnDisk: Int {
    names.filter { $0.hasSuffix(EntryName.suffix) }.map { name in
      (try? Data(contentsOf: folder.appendingPathComponent(name)).count) ?? 0
    }.reduce(0, +)
  }

  func makeFolder() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func exists(_ key: String) -> Bool {
    names.contains(EntryName(of: key).fileName)
  }

  func use(_ key: String, at time: TimeInterval) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: time)], ofItemAtPath: file(key).path)
  }
}

extension Data {
  init(_ text: String) {
    self.init(text.utf8)
  }
}

extension Record {
  /// The bytes of the file.
  var fileContents: Data {
    Data(front()) + value
  }
}

extension CacheError {
  /// The system's error, of an unavailable layer.
  var systemError: POSIXErrorCode? {
    guard case .unavailable(_, let underlying) = self else { return nil }
    return (underlying as? POSIXError)?.code
  }

  var isInUse: Bool {
    if case .inUse = self { true } else { false }
  }
}

/// What a signal of a cache fails with.
func failure<Value>(of signal: Signal<Value>) async throws -> CacheError? {
  let recorder = Recorder<Value>().subscribe(to: signal)
  try await recorder.ended()
  return recorder.failure as? CacheError
}

/// Runs `body` on `count` threads of their own, and waits for all of them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async throws {
  let done = Watched(0)
  for index in 0..<count {
    DispatchQueue(label: "a thread").async {
      body(index)
      done.change { $0 += 1 }
    }
  }
  try await done.wait(for: "\(count) threads") { $0 == count }
}
