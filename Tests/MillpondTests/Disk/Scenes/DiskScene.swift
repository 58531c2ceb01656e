import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Synchronization

@testable import Millpond

/// A fresh folder, which is removed after the test.
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

  /// Opens a cache of the folder that shares nothing with the former one, which must be gone: only
  /// the contents on disk are there.
  ///
  /// Each has another limit, so that it can't take over an open store.
  func open(
    _ byteLimit: Int = .mebibytes(64), _ calls: any FileCalls = POSIXCalls(),
    _ change: (inout DiskOptions) -> Void = { _ in }
  ) -> DiskCache {
    let number = opened.wrappingAdd(1, ordering: .relaxed).newValue
    // The oldest goes first, so that a test can predict evictions.
    var options = DiskOptions(byteLimit: byteLimit + number, policy: .leastRecentlyUsed)
    change(&options)
    return DiskCache(directory: folder, options, FileSystem(calls))
  }

  /// Opens a cache, uses it and closes it.
  func fill(_ byteLimit: Int = .mebibytes(64), _ use: (DiskCache) -> Void) async throws {
    let cache = open(byteLimit)
    use(cache)
    try await cache.flush().value
    try await cache.close().value
  }

  /// Opens a cache, uses it, and leaves the folder as the death of the process would after that.
  func fillAndDie(_ byteLimit: Int = .mebibytes(64), _ use: (DiskCache) -> Void) async throws {
    let calls = FaultyCalls()
    let cache = open(byteLimit, calls)
    use(cache)
    try await cache.flush().value
    calls.die()
    try await cache.close().value
  }

  func makeFolder() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }
}

// MARK: - What is in it

extension DiskScene {
  func url(_ name: String) -> URL {
    folder.appendingPathComponent(name)
  }

  func url(_ name: FileName) -> URL {
    url(name.text)
  }

  /// All names in the folder but that of the lock.
  var names: [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    return (names ?? []).filter { $0 != Folder.lockName }.sorted()
  }

  /// The files of records, the oldest first.
  var segments: [URL] {
    names.filter { $0.hasSuffix(FileName.segmentSuffix) }.map { url($0) }
  }

  /// The files of large values.
  var valueFiles: [URL] {
    names.filter { $0.hasSuffix(FileName.valueSuffix) }.map { url($0) }
  }

  var unfinishedFiles: [URL] {
    names.filter { $0.hasSuffix(FileName.unfinishedSuffix) }.map { url($0) }
  }

  /// The sizes of all files together.
  var bytesOnDisk: Int {
    names.reduce(0) { $0 + size(of: url($1)) }
  }

  func size(of file: URL) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
    return attributes?[.size] as? Int ?? 0
  }

  /// All bytes of the log.
  func log() throws -> Data {
    try segments.map { try Data(contentsOf: $0) }.reduce(Data(), +)
  }

  func exists(_ file: URL) -> Bool {
    FileManager.default.fileExists(atPath: file.path)
  }

  /// Changes the bytes of a file, which stays the same file.
  func change(_ file: URL, _ change: (inout Data) -> Void) throws {
    var bytes = try Data(contentsOf: file)
    change(&bytes)
    let handle = try FileHandle(forUpdating: file)
    defer { try? handle.close() }
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: bytes)
  }
}

extension DiskCache {
  /// Waits until everything is written, and unused room given back.
  func writerRests() async throws {
    while access.store?.state.withLock({ $0.queue.isWriting }) != false {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  /// Returns the statistics of an open folder: callers that waited for it may be served a moment
  /// before the cache sees it.
  func openStatistics() async -> DiskStatistics {
    while access.store == nil { await Task.yield() }
    return statistics
  }
}

extension Data {
  init(_ text: String) {
    self.init(text.utf8)
  }

  mutating func flip(bit: Int) {
    self[startIndex + bit / 8] ^= 1 << UInt8(bit % 8)
  }
}

extension Error {
  /// The system's error, of an unavailable layer.
  var systemError: POSIXErrorCode? {
    guard case .failed(_, _, let underlying) = diskError else { return nil }
    return (underlying as? POSIXError)?.code
  }

  /// The failure of the disk: that of an unavailable layer, or that a value is too large for it.
  var diskError: DiskError? {
    guard case .unavailable(_, let underlying)? = self as? CacheError else {
      return self as? DiskError
    }
    return underlying as? DiskError
  }

  var isTooLarge: Bool {
    if case .tooLarge? = self as? DiskError { true } else { false }
  }

  /// Whether the folder, which it has to name, is in use.
  var isInUse: Bool {
    if case .inUse(let layer)? = self as? CacheError { layer.hasPrefix("disk in /") } else { false }
  }
}

/// Returns the failure of a cache's signal.
func failure<Value>(of signal: Signal<Value>) async throws -> (any Error)? {
  let recorder = Recorder<Value>().subscribe(to: signal)
  try await recorder.ended()
  return recorder.failure
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
