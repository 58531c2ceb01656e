import Foundation
import Millpond
import MillpondTesting
import Testing

/// The code and the claims of the page "Questions and answers".
@Suite(.timeLimit(.minutes(3))) struct QuestionsTests {
  struct Damage: Error {}

  private let clock = ManualClock()
  private let origin = TestOrigin<String, Int>()
  private let disk = TestCache<String, Int>()
  private let memory: MemoryCache<String, Int>

  init() {
    memory = MemoryCache(countLimit: 10, timeToLive: .after(.seconds(60)), clock: clock)
  }

  private var pages: some Cache<String, Int> {
    memory.named("memory")
      .layered(over: disk.mapValues(Codec(encode: { $0 }, decode: Self.read)).named("disk"))
      .layered(over: origin.named("network"))
  }

  @Sendable private static func read(_ stored: Int) throws -> Int {
    if stored < 0 { throw Damage() }
    return stored
  }

  static func ask(_ pages: some Cache<String, Int>) async throws -> String {
    // snippet
    print(pages.plan(for: "index"))  // what each layer would do; asks nothing
    let found = try await pages.lookUp("index").value
    print(found.provenance)  // memory: too old (2 min) 4 µs; disk: miss 53 µs; network: hit 4.6 ms
    // end
    return "\(found.provenance)"
  }

  private func provenance(_ freshness: Freshness = .any) -> String {
    let recorder = Recorder<Found<Int>>()
      .subscribe(to: pages.lookUp("index", freshness: freshness))
    origin["index"].next(1)
    origin["index"].completed()
    return recorder.values.last.map { "\($0.provenance)" } ?? "nothing"
  }

  @Test func `a value that is there, but too old for the get, is said to be`() {
    memory.set(7, for: "index")
    clock.advance(by: .seconds(30))

    let provenance = provenance(.atMost(.seconds(10)))

    #expect(provenance.contains("memory: too old (30 s)"), "\(provenance)")
    #expect(provenance.contains("network: hit"), "\(provenance)")
  }

  @Test func `what can't be read is said to be undecodable, and what has expired is a miss`() {
    memory.set(7, for: "index")
    disk.set(-1, for: "index")
    clock.advance(by: .seconds(61))

    let provenance = provenance()

    #expect(provenance.contains("memory: miss"), "\(provenance)")
    #expect(provenance.contains("disk: undecodable"), "\(provenance)")
  }

  @Test func `a reload says nothing about what only stores`() {
    let provenance = provenance(.reload)

    #expect(!provenance.contains("memory:") && !provenance.contains("disk:"), "\(provenance)")
    #expect(provenance.contains("network: hit"), "\(provenance)")
  }
}
