import Foundation
import MillpondCore
import TestTraits
import Testing

@testable import Millpond

/// Checkpoints that contradict the log.
@Suite(.timeLimit(.minutes(3))) struct DiskCacheCheckpointTests {
  let scene = DiskScene()

  private var index: URL { scene.url(.index) }

  /// A log whose checkpoint says where the old value of a is.
  private func fillOld() async throws {
    try await scene.fill { cache in
      cache.set(Data("old"), for: "a")
      cache.set(Data(count: 5_000), for: "b")
    }
    #expect(scene.exists(index))
  }

  @Test func `a value written after a checkpoint is found`() async throws {
    try await fillOld()
    try await scene.fillAndDie { cache in
      cache.set(Data("new"), for: "a")
      cache.remove("b")
      cache.set(Data(count: 70_000), for: "c")
    }

    let cache = scene.open()
    #expect(try await cache.get("a").value == Data("new"))
    #expect(try await cache.get("b").valueIfAny == nil)
    #expect(try await cache.get("c").value.count == 70_000)
  }

  @Test(arguments: [Data(), Data("garbage"), Data(count: 10_000)])
  func `without a good checkpoint all is found in the log`(contents: Data) async throws {
    try await fillOld()
    try contents.write(to: index)

    #expect(try await scene.open().get("a").value == Data("old"))
  }

  @Test func `a flipped bit anywhere in a checkpoint loses nothing`() async throws {
    try await fillOld()
    let bytes = try Data(contentsOf: index)

    // Not all of them: a folder is opened for each.
    for bit in stride(from: 0, to: bytes.count * 8, by: Effort.stride(29)) {
      var flipped = bytes
      flipped.flip(bit: bit)
      try flipped.write(to: index)
      let cache = scene.open()
      #expect(try await cache.get("a").value == Data("old"))
      try await cache.close().value
    }
  }

  @Test func `a checkpoint that is due and can't be made keeps nobody waiting`() async throws {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(64), calls)
    cache.set(Data(), for: "a")
    try await cache.flush(.synchronized).value
    calls.inject(.error(.EIO), of: [.synchronize], count: .max)
    for number in 0..<100 { cache.set(Data(count: 60_000), for: "\(number)") }
    try await cache.flush().value

    try await cache.writerRests()
    try await cache.close().value
  }

  @Test func `the checkpoint of a removed log hides nothing that is written later`()
    async throws
  {
    try await fillOld()
    for segment in scene.segments { try FileManager.default.removeItem(at: segment) }

    try await scene.fillAndDie { $0.set(Data("newer"), for: "a") }

    let cache = scene.open()
    #expect(try await cache.get("a").valueIfAny == Data("newer"))
    #expect(try await cache.get("b").valueIfAny == nil)
  }

  @Test func `entries of a removed log do not count as stored`() async throws {
    try await fillOld()
    for segment in scene.segments { try FileManager.default.removeItem(at: segment) }

    let cache = scene.open()

    #expect(try await cache.count.value == 0)
    #expect(try await cache.totalBytes.value == 0)
    #expect(try await !cache.contains("a").value)
  }

  @Test func `a checkpoint that is ahead of the log hides no later write`()
    async throws
  {
    try await fillOld()
    let last = try #require(scene.segments.last)
    // A power cut: the last writes did not reach the device.
    try scene.change(last) { $0.removeLast(5_000) }

    try await scene.fillAndDie { $0.set(Data("newer"), for: "a") }

    #expect(try await scene.open().get("a").valueIfAny == Data("newer"))
  }

  @Test func `a checkpoint is written in the place of the old one, or not at all`() async throws {
    try await fillOld()
    let old = try Data(contentsOf: index)
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(64), calls)
    try await cache.set(Data("new"), for: "a").value
    calls.inject(.error(.ENOSPC), of: [.write])

    try await cache.close().value

    #expect(try Data(contentsOf: index) == old)
    #expect(scene.unfinishedFiles == [])
    #expect(try await scene.open().get("a").value == Data("new"))
  }

  @Test func `after a use, and no more, the next opening knows of it`() async throws {
    try await fillOld()
    let cache = scene.open()
    _ = try await cache.get("a").value
    let old = try Data(contentsOf: index)
    try await cache.close().value

    #expect(try Data(contentsOf: index) != old)
  }
}
