import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct RecoveringTests {
  let base = TestCache<String, Int>()
  let other = TestCache<String, Int>()
  let recorder = Recorder<Int>()

  struct Trouble: Error, Equatable {
    let name: String
  }

  @Test func `the other is asked when the base fails`() {
    base.failGets(of: "a", with: Trouble(name: "base"))
    other.set(2, for: "a")

    recorder.subscribe(to: base.recovering(with: other).get("a"))

    #expect(recorder.transcript == ["next 2", "completed"])
    #expect(base.contents == [:])
  }

  @Test func `it is not asked when the base misses`() {
    other.set(2, for: "a")

    recorder.subscribe(to: base.recovering(with: other).get("a"))

    #expect(recorder.transcript == ["completed"])
    #expect(other.gets == [])
  }

  @Test func `when both fail the last failure passes, and a miss hides none`() {
    base.failGets(of: "a", with: Trouble(name: "base"))
    let missed = Recorder<Int>().subscribe(to: base.recovering(with: other).get("a"))
    other.failGets(of: "a", with: Trouble(name: "other"))

    recorder.subscribe(to: base.recovering(with: other).get("a"))

    #expect(missed.failure as? Trouble == Trouble(name: "base"))
    #expect(recorder.failure as? Trouble == Trouble(name: "other"))
  }

  @Test func `a failure after a value ends the get as it is`() {
    let origin = TestOrigin<String, Int>()
    recorder.subscribe(to: origin.recovering(with: other).get("a"))

    origin["a"].next(1)
    origin["a"].failed(Trouble(name: "late"))

    #expect(recorder.transcript == ["next 1", "failed Trouble(name: \"late\")"])
    #expect(other.gets == [])
  }

  @Test func `an origin is not asked for what is cached only`() {
    let origin = TestOrigin<String, Int>()
    base.failGets(of: "a", with: Trouble(name: "base"))

    recorder.subscribe(to: base.recovering(with: origin).get("a", freshness: .cachedOnly))

    #expect(recorder.failure is Trouble)
    #expect(origin["a"].subscriptions == 0)
  }

  @Test func `writes reach the base alone`() {
    base.recovering(with: other).set(1, for: "a")

    #expect(base.contents == ["a": 1] && other.contents == [:])
  }

  @Test func `a lookup of a value names both`() async throws {
    base.failGets(of: "a", with: Trouble(name: "base"))
    other.set(2, for: "a")

    let found = try await base.named("near").recovering(with: other.named("far")).lookUp("a").value

    #expect(found.provenance.steps.map(\.layer) == ["near", "far"])
    #expect(found.provenance.origin == "far")
  }
}
