import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// One flush for everything that a disk cache is a part of.
@Suite(.timeLimit(.minutes(3))) struct DiskCacheFlushTests {
  let scene = DiskScene()

  @Test func `a flush of a composition waits for the disk below`() async throws {
    let disk = scene.open()
    let cache = MemoryCache<String, Data>(countLimit: 10).layered(over: disk.mapKeys { $0 + "!" })
      .reusingInFlight().named("all")
    for number in 0..<50 { cache.set(Data("<\(number)>"), for: "\(number)") }

    try await AnyCache(cache).flush().value

    let log = try scene.log()
    for number in 0..<50 { #expect(log.range(of: Data("<\(number)>")) != nil) }
  }

  @Test func `a flush of a composition waits for what is still being encoded`() async throws {
    let mayEncode = Watched(false)
    let codec = Codec<Data, String>.asynchronous(
      encode: { text in
        try await mayEncode.wait(for: "the gate") { $0 }
        return Data(text.utf8)
      }, decode: { String(decoding: $0, as: UTF8.self) })
    let disk = scene.open()
    _ = await disk.openStatistics()
    let cache = disk.mapValues(codec)
    cache.set("encoded", for: "a")

    let flush = Recorder<Void>().subscribe(to: cache.flush())
    try await disk.flush().value
    #expect(flush.events.isEmpty)
    mayEncode.change { $0 = true }

    try await flush.ended()
    #expect(flush.failure == nil)
    #expect(try scene.log().range(of: Data("encoded")) != nil)
  }

  @Test func `a flush of a composition to the device fails where the device fails`() async throws {
    let calls = FaultyCalls()
    let cache = MemoryCache<String, Data>(countLimit: 10)
      .layered(over: scene.open(.mebibytes(1), calls))
    try await cache.set(Data("x"), for: "a").value
    calls.inject(.error(.EIO), of: [.synchronize])

    let error = try await failure(of: cache.flush(.synchronized))

    #expect(error?.systemError == .EIO)
    try await cache.flush(.synchronized).value
  }

  @Test func `if nothing outlives the process a flush succeeds at once`() {
    let memory = MemoryCache<String, Data>(countLimit: 10)

    #expect(Recorder<Void>().subscribe(to: memory.flush()).isCompleted)
  }
}
