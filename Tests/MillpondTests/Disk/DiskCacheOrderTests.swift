import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Writes that take a while to reach the disk.
@Suite(.timeLimit(.minutes(3))) struct DiskCacheOrderTests {
  let scene = DiskScene()
  private let mayEncode = Watched(false)

  private var slow: Codec<Data, String> {
    .asynchronous(
      encode: { [mayEncode] text in
        try await mayEncode.wait(for: "the gate") { $0 }
        return Data(text.utf8)
      }, decode: { String(decoding: $0, as: UTF8.self) })
  }

  @Test func `a set that is encoded while very much else is removed is stored`() async throws {
    let disk = scene.open()
    let outcome = disk.mapValues(slow).set("kept", for: "a")

    for number in 0..<1_100 { disk.remove("other \(number)") }
    mayEncode.change { $0 = true }

    try await outcome.value
    #expect(try await disk.get("a").value == Data("kept"))
    try await disk.close().value
    #expect(try await scene.open().get("a").value == Data("kept"))
  }

  @Test(arguments: [true, false])
  func `an older set that comes late loses, after a restart too`(isRemoved: Bool) async throws {
    let disk = scene.open()
    let outcome = disk.mapValues(slow).set("older", for: "a")

    if isRemoved { disk.remove("a") } else { disk.set(Data("newer"), for: "a") }
    for number in 0..<1_100 { disk.remove("other \(number)") }
    mayEncode.change { $0 = true }

    try await outcome.value
    #expect(try await disk.get("a").valueIfAny == (isRemoved ? nil : Data("newer")))
    try await disk.close().value
    #expect(try await scene.open().get("a").valueIfAny == (isRemoved ? nil : Data("newer")))
  }

  @Test func `an older set that comes late loses to a later one that was evicted`() async throws {
    let disk = scene.open(40_000)
    let outcome = disk.mapValues(slow).set("older", for: "a")

    disk.set(Data("newer"), for: "a")
    for number in 0..<3_000 { disk.set(Data(count: 100), for: "\(number)") }
    #expect(try await disk.get("a").valueIfAny == nil)
    mayEncode.change { $0 = true }

    try await outcome.value
    #expect(try await disk.get("a").valueIfAny == nil)
  }

  @Test func `a value that is streamed while very much else is removed is stored`() async throws {
    let disk = scene.open()
    let source = TestSource<Data>()
    let outcome = Recorder<Void>().subscribe(to: disk.storing(source.signal, for: "a"))
    try await source.subscriptions(count: 1)

    for number in 0..<3_000 { disk.remove("other \(number)") }
    source.next(Data(count: 100_000))
    source.completed()

    try await outcome.ended()
    #expect(try await disk.get("a").value.count == 100_000)
  }

  @Test func `a value that is streamed loses to a later write of its key, evicted or not`()
    async throws
  {
    let disk = scene.open(40_000)
    let source = TestSource<Data>()
    let outcome = Recorder<Void>().subscribe(to: disk.storing(source.signal, for: "a"))
    try await source.subscriptions(count: 1)

    disk.set(Data("newer"), for: "a")
    for number in 0..<3_000 { disk.set(Data(count: 100), for: "\(number)") }
    source.next(Data("older"))
    source.completed()

    try await outcome.ended()
    #expect(try await disk.get("a").valueIfAny == nil)
  }
}
