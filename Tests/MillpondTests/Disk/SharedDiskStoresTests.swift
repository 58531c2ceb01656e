import Dispatch
import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(3))) struct SharedDiskStoresTests {
  let scene = DiskScene()

  private func cache(_ byteLimit: Int, at folder: URL? = nil) -> DiskCache {
    DiskCache(directory: folder ?? scene.folder, byteLimit: byteLimit)
  }

  @Test func `two caches of one folder are one store`() async throws {
    let (first, second) = (cache(10_000), cache(10_000))
    try await second.flush().value

    first.set(Data("x"), for: "a")

    try await first.flush().value
    #expect(try await second.get("a").value == Data("x"))
    #expect(try await second.count.value == 1)
  }

  @Test func `a folder that is reached by a link is the same`() async throws {
    let first = cache(10_000)
    try await first.flush().value
    let link = DiskScene()
    try FileManager.default.createSymbolicLink(at: link.folder, withDestinationURL: scene.folder)
    let second = cache(10_000, at: link.folder)

    try await second.set(Data("x"), for: "a").value

    #expect(try await first.get("a").value == Data("x"))
  }

  @Test func `with another limit every operation of the later one is an error`() async throws {
    let first = cache(10_000)
    try await first.set(Data("x"), for: "a").value
    let second = cache(20_000)

    #expect(try await failure(of: second.get("a"))?.isInUse == true)
    #expect(try await failure(of: second.getStamped("a", Lookup()))?.isInUse == true)
    #expect(try await failure(of: second.set(Data(), for: "a"))?.isInUse == true)
    #expect(try await failure(of: second.remove("a"))?.isInUse == true)
    #expect(try await failure(of: second.removeAll())?.isInUse == true)
    #expect(try await failure(of: second.flush())?.isInUse == true)
    #expect(try await failure(of: second.totalBytes)?.isInUse == true)
    #expect(try await first.get("a").value == Data("x"))
  }

  @Test func `when the first is gone another limit will do`() async throws {
    for limit in 10_000..<10_050 {
      let cache = cache(limit)
      cache.set(Data("\(limit)"), for: "a")
      #expect(try await cache.get("a").value == Data("\(limit)"))
    }
  }

  @Test func `a cache that comes while the last one goes shares its store`() async throws {
    for number in 0..<50 {
      let cache = cache(10_000)
      if number > 0 { #expect(try await cache.get("a").value == Data("\(number - 1)")) }
      cache.set(Data("\(number)"), for: "a")
    }
    try await cache(10_000).flush().value
  }

  @Test func `a cache that goes before its folder is open leaves nothing in use`() async throws {
    for limit in 10_000..<10_050 { _ = cache(limit) }

    try await cache(9_999).set(Data("x"), for: "a").value
  }

  @Test func `a cache that waits until the folder is free comes before those made after it`()
    async throws
  {
    let (isHeld, isClosing) = (Locked(false), Watched(false))
    let (closing, admitting) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let calls = FaultyCalls { call in
      // The checkpoint, of the closing.
      guard call == .rename, isHeld.withLock({ exchange(&$0, with: false) }) else { return }
      isClosing.change { $0 = true }
      _ = closing.wait(timeout: .now() + 10)
    }
    let cache = {
      DiskCache(
        directory: scene.folder, DiskOptions(byteLimit: .mebibytes(1)), FileSystem(calls))
    }
    let former = cache()
    try await former.set(Data("former"), for: "a").value
    isHeld.withLock { $0 = true }
    let closed = Recorder<Void>().subscribe(to: former.close())
    try await isClosing.wait(for: "the closing") { $0 }

    let first = cache()
    first.set(Data("first"), for: "a")
    await withCheckedContinuation { continuation in
      SharedDiskStores.admissions.async { continuation.resume() }
    }
    SharedDiskStores.admissions.async { _ = admitting.wait(timeout: .now() + 10) }
    let found = Recorder<Data>().subscribe(to: cache().get("a"))
    closing.signal()
    try await closed.ended()
    admitting.signal()

    try await found.ended()
    #expect(found.values == [Data("first")])
    try await first.close().value
  }

  @Test func `a cache whose settings fit waits behind an earlier one whose settings do not`() {
    func options(_ byteLimit: Int) -> DiskOptions { DiskOptions(byteLimit: byteLimit) }
    var use = StoreUse(DiskStore(path: scene.folder.path, options(10_000)))
    let parts = [StorePart(), StorePart(), StorePart()]
    guard case .takesPart = use.enter(options(10_000), parts[0], {}) else {
      Issue.record("refused")
      return
    }
    parts[0].end()

    guard case .waits = use.enter(options(20_000), parts[1], {}),
      case .waits = use.enter(options(10_000), parts[2], {})
    else {
      Issue.record("overtaken")
      return
    }
    #expect(use.retries.count == 2)
  }

  enum LaterChange: CaseIterable {
    case set, remove, removeAll, removeMatching

    func apply(to cache: DiskCache) -> Signal<Void> {
      switch self {
      case .set: cache.set(Data("later"), for: "a")
      case .remove: cache.remove("a")
      case .removeAll: cache.removeAll()
      case .removeMatching: cache.removeAll { $0 == "a" }
      }
    }
  }

  @Test func `a fill that waits for the next store loses against a later set in the closing one`()
    async throws
  {
    let former = cache(10_000)
    try await former.set(Data("first"), for: "a").value
    let admission = DispatchSemaphore(value: 0)
    SharedDiskStores.admissions.async { admission.wait() }
    let next = cache(10_000)

    let fill = next.apply(.fill("a", Stamped(Data("early"), age: .zero), FillToken()))
    try await former.set(Data("later"), for: "a").value
    try await former.close().value
    admission.signal()

    #expect(try await fill.valueIfAny == nil)
    #expect(try await next.get("a").value == Data("later"))
  }

  @Test(arguments: LaterChange.allCases)
  func `a set that waits for the next store loses against a later change in the closing one`(
    change: LaterChange
  ) async throws {
    let former = cache(10_000)
    try await former.set(Data("first"), for: "a").value
    let admission = DispatchSemaphore(value: 0)
    SharedDiskStores.admissions.async { admission.wait() }
    let next = cache(10_000)

    let set = next.set(Data("early"), for: "a")
    let other = next.set(Data("b"), for: "b")
    try await change.apply(to: former).value
    try await former.close().value
    admission.signal()

    try await set.value
    try await other.value
    let last = try await next.get("a").valueIfAny
    #expect(last == (change == .set ? Data("later") : nil))
    let isRemoved = try await next.get("b").valueIfAny == nil
    #expect(isRemoved == (change == .removeAll))
  }

}
