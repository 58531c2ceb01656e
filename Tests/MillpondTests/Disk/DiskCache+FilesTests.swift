import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(3))) struct DiskCacheFilesTests {
  let scene = DiskScene()
  let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })

  /// Waits until the file is gone: the thread that delivered the lease may release it last.
  private func waitUntilGone(_ url: URL) async throws {
    while scene.exists(url) {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  @Test func `a large value is handed out as the file that it is in`() async throws {
    let cache = scene.open()
    cache.set(large, for: "film")

    let file = try await cache.file(for: "film").value

    #expect(try Data(contentsOf: file.url) == large)
    #expect(file.byteCount == large.count)
    #expect(scene.valueFiles.map(\.lastPathComponent) == [file.url.lastPathComponent])
  }

  @Test func `a small value is lent as a copy, which is removed with the lease`() async throws {
    let cache = scene.open()
    cache.set(Data("small"), for: "a")

    var file: DiskFile? = try await cache.file(for: "a").value
    let url = try #require(file?.url)

    #expect(try Data(contentsOf: url) == Data("small"))
    file = nil
    try await waitUntilGone(url)
  }

  @Test func `a copy outlives a removal of everything, also one after the next opening`()
    async throws
  {
    let cache = scene.open()
    cache.set(Data("small"), for: "a")
    var file: DiskFile? = try await cache.file(for: "a").value
    let url = try #require(file?.url)

    try await cache.removeAll().value
    #expect(scene.exists(url))
    try await cache.close().value
    let again = scene.open()
    try await again.removeAll().value

    #expect(try Data(contentsOf: url) == Data("small"))
    _ = file
    file = nil
    try await waitUntilGone(url)
  }

  @Test func `a sealed value is handed out as it was set`() async throws {
    let cache = scene.open(.mebibytes(8), POSIXCalls()) {
      $0.form = DiskValueFormat(
        schema: .unversioned,
        sealing: DiskSealing(
          seal: { value, _ in Data(value.reversed()) },
          open: { value, _ in Data(value.reversed()) }))
    }
    cache.set(large, for: "film")

    let file = try await cache.file(for: "film").value

    #expect(try Data(contentsOf: file.url) == large)
  }

  @Test func `a miss has no file`() async throws {
    #expect(try await scene.open().file(for: "film").valueIfAny == nil)
  }

  @Test(arguments: [true, false])
  func `a leased file outlives a new value and a removal`(isRemoved: Bool) async throws {
    let cache = scene.open()
    cache.set(large, for: "film")
    var file: DiskFile? = try await cache.file(for: "film").value
    let url = try #require(file?.url)

    if isRemoved { cache.remove("film") } else { cache.set(Data("new"), for: "film") }
    try await cache.flush().value

    #expect(try Data(contentsOf: url) == large)
    #expect(try await cache.get("film").valueIfAny == (isRemoved ? nil : Data("new")))
    _ = file
    file = nil
    try await waitUntilGone(url)
  }

  @Test func `a leased file is not evicted, and can be when it is released`() async throws {
    let cache = scene.open(1_000_000)
    cache.set(large, for: "film")
    var file: DiskFile? = try await cache.file(for: "film").value
    let url = try #require(file?.url)

    for number in 0..<10 { cache.set(large, for: "\(number)") }
    try await cache.flush().value

    #expect(try await cache.get("film").value == large)
    #expect(scene.exists(url))
    _ = file
    file = nil
    while try await cache.contains("film").value {
      try Task.checkCancellation()
      for number in 0..<10 { cache.set(large, for: "\(number)") }
      try await cache.flush().value
    }
    try await waitUntilGone(url)
  }

  @Test func `if all stored files are leased, a new value is not stored`() async throws {
    let cache = scene.open(500_000)
    cache.set(large, for: "film")
    let file = try await cache.file(for: "film").value

    cache.set(Data(count: 300_000), for: "other")
    try await cache.flush().value

    #expect(try await cache.get("other").valueIfAny == nil)
    #expect(try Data(contentsOf: file.url) == large)
  }

  @Test func `a file that is gone is a miss, and one of another size too`() async throws {
    let cache = scene.open()
    for key in ["gone", "cut"] { cache.set(large, for: key) }
    let gone = try await cache.file(for: "gone").value.url
    let cut = try await cache.file(for: "cut").value.url
    try FileManager.default.removeItem(at: gone)
    try scene.change(cut) { $0.removeLast() }

    for key in ["gone", "cut"] {
      #expect(try await cache.file(for: key).valueIfAny == nil)
      #expect(try await cache.get(key).valueIfAny == nil)
    }
  }

  @Test func `copies that were left behind are swept at the next opening`() async throws {
    try await scene.fill { $0.set(Data("small"), for: "a") }
    // A file that the death of the process leaves.
    try Data("small").write(to: scene.url(.unfinished(7)))

    let again = scene.open()
    #expect(try await again.get("a").value == Data("small"))
    #expect(scene.unfinishedFiles.isEmpty)
    try await again.close().value
  }

  @Test func `a file outlives the closing and the opening of its cache while something holds it`()
    async throws
  {
    let cache = scene.open()
    cache.set(large, for: "removed")
    cache.set(large, for: "kept")
    cache.set(Data("small"), for: "small")
    var files: [DiskFile] = []
    for key in ["removed", "kept", "small"] { files.append(try await cache.file(for: key).value) }
    let urls = files.map(\.url)
    try await cache.remove("removed").value
    try await cache.close().value

    for _ in 0..<2 {
      let again = scene.open()
      #expect(try await again.count.value == 2)
      try await again.close().value
    }
    let last = scene.open()
    try await last.remove("kept").value
    for url in urls { #expect(scene.exists(url)) }

    #expect(try Data(contentsOf: files[1].url) == large)
    files = []
    for url in urls { try await waitUntilGone(url) }
  }

  @Test func `a file that several hold over a closing goes when the last has released it`()
    async throws
  {
    let cache = scene.open()
    cache.set(large, for: "film")
    var first: DiskFile? = try await cache.file(for: "film").value
    var second: DiskFile? = try await cache.file(for: "film").value
    let url = try #require(second?.url)
    try await cache.close().value
    let again = scene.open()
    try await again.remove("film").value

    _ = first
    first = nil
    try await again.flush().value
    #expect(try Data(contentsOf: url) == large)

    _ = second
    second = nil
    try await waitUntilGone(url)
  }

  @Test func `a file that something holds keeps no open file of a later store that was closed`()
    async throws
  {
    let cache = scene.open()
    cache.set(large, for: "film")
    let file = try await cache.file(for: "film").value
    try await cache.close().value

    let again = scene.open()
    try await again.set(Data("small"), for: "a").value
    _ = await again.openStatistics()
    weak let segment = again.access.store?.state.withLock { $0.segments.segments.last }
    #expect(segment != nil)
    try await again.close().value

    while segment != nil {
      try Task.checkCancellation()
      await Task.yield()
    }
    #expect(try Data(contentsOf: file.url) == large)
  }

  @Test(arguments: [10, 200_000])
  func `a file that is looked up when its cache closes is lent, and stays`(
    count: Int
  ) async throws {
    let (isAwaited, hasBegun) = (Locked(false), Watched(false))
    let gate = DispatchSemaphore(value: 0)
    let calls = FaultyCalls { call in
      guard call == .read, isAwaited.withLock({ exchange(&$0, with: false) }) else { return }
      hasBegun.change { $0 = true }
      _ = gate.wait(timeout: .now() + 10)
    }
    let cache = scene.open(.mebibytes(64), calls)
    let value = Data(repeating: 7, count: count)
    try await cache.set(value, for: "film").value
    _ = await cache.openStatistics()
    let store = try #require(cache.access.store)
    isAwaited.withLock { $0 = true }
    let lookup = Recorder<DiskFile>().subscribe(to: cache.file(for: "film"))
    try await hasBegun.wait(for: "the lookup") { $0 }

    let closed = Recorder<Void>().subscribe(to: cache.close())
    // Behind all that the closing waits for, except for the lookup.
    let isPassed = Watched(false)
    store.afterWriting { store.outcomes.async { isPassed.change { $0 = true } } }
    try await isPassed.wait(for: "the writer") { $0 }
    gate.signal()
    try await lookup.ended()
    try await closed.ended()
    let again = scene.open()
    try await again.remove("film").value

    let file = try #require(lookup.values.first)
    #expect(try Data(contentsOf: file.url) == value)
  }
}
