import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(3))) struct DiskCacheThreadsTests {
  let scene = DiskScene()

  /// Returns a value that names its key if it is whole.
  private func value(_ key: Int, _ version: Int) -> Data {
    Data(repeating: UInt8(key), count: 50 + version % 200)
  }

  private func check(_ cache: DiskCache, limit: Int) async throws {
    let (count, bytes) = (try await cache.count.value, try await cache.totalBytes.value)
    #expect(bytes <= limit)
    try await cache.close().value
    #expect(scene.bytesOnDisk <= limit)
    let again = DiskCache(directory: scene.folder, byteLimit: limit)
    #expect(try await again.count.value == count)
    #expect(try await again.totalBytes.value == bytes)
    try await again.close().value
  }

  @Test func `eight threads see whole values, and the size stays right`() async throws {
    let limit = 4_000
    let cache = DiskCache(directory: scene.folder, byteLimit: limit)
    let broken = Watched(0)

    try await onThreads(8) { thread in
      var random = UInt64(thread + 1)
      for round in 0..<250 {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let key = Int(random >> 33) % 20
        switch Int(random >> 40) % 8 {
        case 0: cache.remove("\(key)")
        case 1, 2, 3: cache.set(value(key, round), for: "\(key)")
        default:
          cache.get("\(key)").subscribe(onNext: { found in
            let isWhole = found.count >= 50 && found.allSatisfy { $0 == UInt8(key) }
            if !isWhole { broken.change { $0 += 1 } }
          })
        }
      }
    }

    try await check(cache, limit: limit)
    #expect(broken.state == 0)
  }

  @Test func `removals of everything that race with sets keep the size right`() async throws {
    let cache = DiskCache(directory: scene.folder, byteLimit: 3_000)

    try await onThreads(8) { thread in
      for round in 0..<150 {
        if thread == 0, round % 10 == 0 {
          cache.removeAll()
        } else {
          cache.set(value(thread, round), for: "\(round % 40)")
        }
      }
    }

    try await check(cache, limit: 3_000)
  }

  @Test func `the last write is there at the end, from whatever thread`() async throws {
    let cache = scene.open()
    let lastWrite = Watched((revision: Revision.none, version: 0))

    try await onThreads(8) { thread in
      for round in 0..<100 {
        let revision = Revision.next()
        let version = thread * 100 + round
        lastWrite.change { if $0.revision < revision { $0 = (revision, version) } }
        _ = cache.apply(.set("a", Data("\(version)"), revision))
      }
    }

    let last = lastWrite.state.version
    #expect(try await cache.get("a").value == Data("\(last)"))
    try await cache.flush().value
    #expect(try await cache.get("a").value == Data("\(last)"))
  }

  @Test func `every operation ends, and keeps the signals' contract`() async throws {
    let cache = scene.open()
    let outcomes = (0..<200).map { number in
      Recorder<Void>().subscribe(to: cache.set(value(1, number), for: "\(number % 5)"))
    }
    let gets = (0..<200).map { number in
      Recorder<Data>().subscribe(to: cache.get("\(number % 5)"))
    }

    for recorder in outcomes { try await recorder.ended() }
    for recorder in gets { try await recorder.ended() }

    #expect(outcomes.allSatisfy { $0.violations.isEmpty && $0.isCompleted })
    #expect(gets.allSatisfy { $0.violations.isEmpty && $0.values.count == 1 })
  }
}
