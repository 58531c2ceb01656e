import MillpondCore
import MillpondSignals
import MillpondTesting
import Synchronization
import Testing

@Suite struct MappedValuesTests {
  let base = TestCache<String, String>()

  /// Codecs that name the key; `slow` ones take time.
  private func codec(for key: String) -> Codec<String, Int> {
    let encode = { @Sendable (number: Int) in "\(key)\(number)" }
    let decode = { @Sendable (text: String) in Int(text.dropFirst(key.count)) ?? -1 }
    return key.hasPrefix("slow")
      ? .asynchronous(encode: { encode($0) }, decode: { decode($0) })
      : Codec(encode: encode, decode: decode)
  }

  @Test func `a codec may depend on the key`() async throws {
    let cache = base.mapValues(byKey: codec)

    cache.set(1, for: "a")
    cache.set(2, for: "b")
    try await cache.set(3, for: "slow").value

    #expect(base.contents == ["a": "a1", "b": "b2", "slow": "slow3"])
    #expect(Recorder<Int>().subscribe(to: cache.get("b")).values == [2])
    #expect(try await cache.get("slow").value == 3)
  }

  @Test func `what works at once is there at once, beside keys that take time`() {
    let memory = MemoryCache<String, String>(countLimit: 5)
    let cache = memory.mapValues(byKey: codec)
    cache.set(1, for: "a")
    memory.set("slow2", for: "slow")

    #expect(cache.now("a", Lookup()) == 1)
    #expect(cache.now("slow", Lookup()) == nil)
  }

  @Test func `clearing waits for no key whose codec takes time, and neither do other keys`()
    async throws
  {
    let source = TestSource<String>()
    let cache = base.mapValues(byKey: { [signal = source.signal] key in
      key == "a"
        ? .asynchronous(
          encode: { try await signal.value + "\($0)" }, decode: { Int($0) ?? -1 })
        : Codec<String, Int>(encode: { "\($0)" }, decode: { Int($0) ?? -1 })
    })
    let slow = Recorder<Void>().subscribe(to: cache.set(1, for: "a"))
    try await source.subscriptions(count: 1)
    let cleared = Recorder<Void>().subscribe(to: cache.removeAll())
    let after = Recorder<Void>().subscribe(to: cache.set(2, for: "b"))
    #expect(cleared.isCompleted && after.isCompleted)

    source.next("")
    try await slow.ended()

    #expect(base.contents == ["b": "2"])
  }

  @Test func `decoding happens once however many wait, under shared flights`() {
    let counted = Counted()
    let origin = TestOrigin<String, String>()
    let cache = origin.mapValues(counted.codec).reusingInFlight()
    let recorders = (0..<50).map { _ in Recorder<Int>().subscribe(to: cache.get("a")) }

    origin["a"].next("7")
    origin["a"].completed()

    #expect(recorders.allSatisfy { $0.values == [7] })
    #expect(counted.decodings.load(ordering: .relaxed) == 1)
  }

  /// A codec that counts.
  final class Counted: Sendable {
    let decodings = Atomic<Int>(0)

    var codec: Codec<String, Int> {
      Codec(
        encode: { String($0) },
        decode: { text in
          self.decodings.add(1, ordering: .relaxed)
          return Int(text) ?? -1
        })
    }
  }
}
