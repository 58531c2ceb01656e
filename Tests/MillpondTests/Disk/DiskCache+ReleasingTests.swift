import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import Millpond

/// Folders that several processes use in turn.
@Suite(.timeLimit(.minutes(10)), .heavy) struct DiskCacheReleasingTests {
  private let scene = DiskScene()

  private var lockPath: String { scene.folder.appending(path: Folder.lockName).path }

  @Test func `a released folder is not locked, and the next use opens it again`() async throws {
    let cache = scene.open()
    cache.set(Data("x"), for: "a")

    try await cache.release()

    let lock = try #require(TestPlatform.lock(lockPath))
    await #expect(throws: CacheError.self) { try await cache.get("a").value }
    TestPlatform.unlock(lock)
    #expect(try await cache.get("a").value == Data("x"))
    #expect(TestPlatform.lock(lockPath) == nil)
  }

  @Test func `while another process has the folder, the error names it`() async throws {
    let cache = scene.open()
    try await cache.set(Data("x"), for: "a").value
    try await cache.release()
    let lock = try #require(TestPlatform.lock(lockPath))

    let set = Recorder<Void>().subscribe(to: cache.set(Data("y"), for: "a"))
    try await set.ended()
    TestPlatform.unlock(lock)

    #expect("\(try #require(set.failure))".contains(scene.folder.lastPathComponent))
    #expect(try await cache.get("a").value == Data("x"))
  }

  @Test func `a release before the folder is open waits for what came before it`() async throws {
    let cache = scene.open()
    let set = cache.set(Data("x"), for: "a")
    let released: Signal<Void> = cache.release()

    try await set.value
    try await released.value

    let lock = try #require(TestPlatform.lock(lockPath))
    TestPlatform.unlock(lock)
    #expect(try await cache.get("a").value == Data("x"))
  }

  @Test func `a release of a closed cache, or a second one, ends`() async throws {
    let cache = scene.open()
    try await cache.release()
    try await cache.release()
    try await cache.close()

    try await cache.release()

    await #expect(throws: CacheError.self) { try await cache.get("a").value }
  }

  @Test func `another cache of the process keeps the folder until it is released too`()
    async throws
  {
    let (first, second) = (
      DiskCache(directory: scene.folder, byteLimit: 1 << 20),
      DiskCache(directory: scene.folder, byteLimit: 1 << 20)
    )
    try await first.set(Data("x"), for: "a").value
    _ = try await second.get("a").value

    try await first.release()
    #expect(TestPlatform.lock(lockPath) == nil)
    try await second.release()

    let lock = try #require(TestPlatform.lock(lockPath))
    TestPlatform.unlock(lock)
  }

  @Test func `a write that is carried out twice with one revision is stored once`() async throws {
    let cache = scene.open()
    let change = Change<String, Data>.set("a", Stamped(Data("x")), .next())

    try await cache.apply(change).value
    try await cache.apply(change).value

    #expect(try await cache.get("a").value == Data("x"))
  }

  @Test func `a write that had the store before a release is carried out by the next one`()
    async throws
  {
    let cache = scene.open()
    try await cache.set(Data("x"), for: "a").value
    let store = cache.access.store
    let revision = Revision.next()
    let change = Change<String, Data>.set("a", Stamped(Data("y")), revision)
    try await cache.release()

    try await cache.carryOut(by: store, revision) { store, _ in
      store.apply(change, .forever)
    }.value

    #expect(try await cache.get("a").value == Data("y"))
  }

  @Test func `no write is lost, whenever other threads release the folder`() async throws {
    let cache = DiskCache(directory: scene.folder, byteLimit: .mebibytes(64))
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<3 {
        group.addTask {
          for number in 0..<400 {
            do {
              // Not awaited one by one, so that some are on their way at each release.
              let outcome = cache.set(Data("\(number)"), for: "\(writer) \(number % 40)")
              if number % 7 == 0 { try await outcome.value }
            } catch {
              Issue.record(error)
            }
          }
        }
      }
      group.addTask {
        for _ in 0..<60 {
          do { try await cache.release() } catch { Issue.record(error) }
        }
      }
    }
    try await cache.flush()

    for writer in 0..<3 {
      for key in 0..<40 {
        let value = try await cache.get("\(writer) \(key)").valueIfAny
        #expect(value == Data("\(360 + key)"), "\(writer) \(key)")
      }
    }
  }

  // MARK: Several processes

  /// The same folder for the children, which have nothing but their parent's number.
  private static func folder(of process: Int32) -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("millpond-turns-\(process)")
  }

  /// Adds to a number in the cache, in turn with other processes, until this one is killed in the
  /// middle of a turn; notes the turns that are over.
  static func takeTurns() async throws {
    let folder = folder(of: TestPlatform.parentProcess)
    let cache = DiskCache(
      directory: folder.appending(path: "cache"), byteLimit: .mebibytes(16))
    let process = TestPlatform.process
    let last = 10 + Int(process % 5)
    var turn = 0
    while true {
      let number: Int
      do {
        let stored = try await cache.get("number").valueIfAny
        number = stored.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
      } catch CacheError.inUse {
        try await Task.sleep(for: .milliseconds(1))
        continue
      }
      turn += 1
      let outcome = cache.set(Data("\(number + 1)"), for: "number")
      cache.set(Data(repeating: UInt8(turn), count: 70_000), for: "\(process)")
      if turn == last { TestPlatform.killThisProcess() }
      try await outcome.value
      try await cache.release()
      try Data("\(turn)".utf8).write(to: folder.appending(path: "\(process).turns"))
    }
  }

  @Test(arguments: [2, 4])
  func `processes that take turns lose no write, and none is stopped by one that is killed`(
    count: Int
  ) async throws {
    let folder = Self.folder(of: TestPlatform.process)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }

    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<count {
        group.addTask {
          await #expect(processExitsWith: .signal(9)) {
            try await DiskCacheReleasingTests.takeTurns()
          }
        }
      }
    }

    let notes = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == "turns" }
    #expect(notes.count == count)
    let turns = try notes.map { try String(contentsOf: $0, encoding: .utf8) }.compactMap { Int($0) }
    let cache = DiskCache(
      directory: folder.appending(path: "cache"), byteLimit: .mebibytes(16))
    let stored = String(decoding: try await cache.get("number").value, as: UTF8.self)
    let number = try #require(Int(stored))
    let sum = turns.reduce(0, +)
    #expect((sum...sum + count).contains(number))
    for (note, turn) in zip(notes, turns) {
      let key = note.deletingPathExtension().lastPathComponent
      let value = try await cache.get(key).value
      #expect(value.count == 70_000 && Set(value).count == 1)
      #expect((turn...turn + 1).contains(Int(value[value.startIndex])))
    }
    try await cache.close()
  }
}
