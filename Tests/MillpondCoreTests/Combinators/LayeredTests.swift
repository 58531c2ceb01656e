import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct LayeredTests {
  let upper = TestCache<String, Int>()
  let lower = TestCache<String, Int>()
  let recorder = Recorder<Int>()

  struct Trouble: Error, Equatable {
    let name: String
  }

  enum Answer: Sendable {
    case value(Int)
    case failure(String)
    case miss
  }

  @Test(arguments: [
    (Answer.value(1), Answer.value(2), ["next 1", "completed"]),
    (.value(1), .failure("lower"), ["next 1", "completed"]),
    (.value(1), .miss, ["next 1", "completed"]),
    (.failure("upper"), .value(2), ["next 2", "completed"]),
    (.failure("upper"), .failure("lower"), ["failed Trouble(name: \"lower\")"]),
    (.failure("upper"), .miss, ["failed Trouble(name: \"upper\")"]),
    (.miss, .value(2), ["next 2", "completed"]),
    (.miss, .failure("lower"), ["failed Trouble(name: \"lower\")"]),
    (.miss, .miss, ["completed"]),
  ])
  func `the first value wins, else the last failure, else it is a miss`(
    above: Answer, below: Answer, expected: [String]
  ) {
    prepare(upper, above)
    prepare(lower, below)

    recorder.subscribe(to: upper.layered(over: lower).get("a"))

    #expect(recorder.transcript == expected)
  }

  private func prepare(_ cache: TestCache<String, Int>, _ answer: Answer) {
    switch answer {
    case .value(let value): cache.set(value, for: "a")
    case .failure(let name): cache.failGets(of: "a", with: Trouble(name: name))
    case .miss: break
    }
  }

  @Test func `a value found below is stored above before it is delivered`() {
    lower.set(1, for: "a")
    let seen = Recorder<Int>()

    recorder.subscribe(to: upper.layered(over: lower).get("a")) { event in
      if case .next = event { seen.subscribe(to: upper.get("a")) }
    }

    #expect(seen.values == [1])
    #expect(upper.contents == ["a": 1])
  }

  @Test func `the lower layer is not asked for what the upper one has`() {
    upper.set(1, for: "a")

    recorder.subscribe(to: upper.layered(over: lower).get("a"))

    #expect(lower.gets == [])
  }

  @Test func `nothing is asked before the subscription, and everything again at the next`() {
    let signal = upper.layered(over: lower).get("a")
    #expect(upper.gets == [])

    recorder.subscribe(to: signal)
    Recorder<Int>().subscribe(to: signal)

    #expect(upper.gets == ["a", "a"])
  }

  @Test func `a failure after a value ends the signal as it is`() {
    let origin = TestOrigin<String, Int>()
    recorder.subscribe(to: AnyCache(origin).layered(over: lower).get("a"))
    lower.set(2, for: "a")

    origin["a"].next(1)
    origin["a"].failed(Trouble(name: "late"))

    #expect(recorder.transcript == ["next 1", "failed Trouble(name: \"late\")"])
    #expect(lower.gets == [])
  }

  @Test func `a write is in both layers when the call returns`() {
    let both = upper.layered(over: lower)

    both.set(1, for: "a")
    #expect(upper.contents == ["a": 1] && lower.contents == ["a": 1])

    both.remove("a")
    #expect(upper.contents == [:] && lower.contents == [:])

    both.set(1, for: "b")
    both.removeAll()
    #expect(upper.contents == [:] && lower.contents == [:])
  }

  @Test func `the lower layer is written first`() {
    let order = Recorder<String>()
    let written = PublishSubject<String>()
    order.subscribe(to: written.signal)
    func layer(_ name: String) -> AnyCache<String, Int> {
      AnyCache(
        get: { _ in .empty },
        set: { _, _ in
          .deferred {
            written.next(name); return .just(())
          }
        },
        remove: { _ in .just(()) }, removeAll: { .just(()) })
    }

    layer("upper").layered(over: layer("lower")).set(1, for: "a")

    #expect(order.values == ["lower", "upper"])
  }

  @Test func `a failed set below fails the outcome, and the older value does not come back`() {
    let both = upper.layered(over: lower)
    both.set(1, for: "a")
    lower.failChanges(of: "a", with: Trouble(name: "full"))

    let outcome = Recorder<Void>().subscribe(to: both.set(2, for: "a"))

    #expect(cause(of: outcome) == Trouble(name: "full"))
    #expect(upper.contents == ["a": 2])
    #expect(lower.contents == [:])
  }

  @Test func `a failed set above leaves no older value above`() {
    let both = upper.layered(over: lower)
    both.set(1, for: "a")
    upper.failChanges(of: "a", with: Trouble(name: "odd"))

    let outcome = Recorder<Void>().subscribe(to: both.set(2, for: "a"))

    #expect(cause(of: outcome) == Trouble(name: "odd"))
    recorder.subscribe(to: both.get("a"))
    #expect(recorder.values == [2])
  }

  @Test(arguments: ["top", "middle", "bottom"])
  func `a set that fails in one layer names that layer`(failing: String) {
    let layers = ["top", "middle", "bottom"].map { name in
      let layer = TestCache<String, Int>()
      if name == failing { layer.failChanges(of: "a", with: Trouble(name: "full")) }
      return layer.named(name)
    }
    let all = layers[0].layered(over: layers[1].layered(over: layers[2]))

    let outcome = Recorder<Void>().subscribe(to: all.set(1, for: "a"))

    guard case CacheError.partlyStored("a", let layer, let error)? = outcome.failure else {
      Issue.record("\(outcome.transcript)")
      return
    }
    #expect(layer == failing)
    #expect(error as? Trouble == Trouble(name: "full"))
  }

  @Test func `the error of a set does not say that a key is removed that may still be there`() {
    let stuck = AnyCache<String, Int>(
      get: { _ in .just(1) }, set: { _, _ in .fail(Trouble(name: "full")) },
      remove: { _ in .fail(Trouble(name: "stuck")) }, removeAll: { .just(()) })

    let outcome = Recorder<Void>().subscribe(to: upper.layered(over: stuck).set(2, for: "a"))

    #expect(cause(of: outcome) == Trouble(name: "full"))
    let text = outcome.failure.map { "\($0)" } ?? ""
    #expect(text.contains("was told to remove the key") && !text.contains("removed"))
  }

  private func cause(of outcome: Recorder<Void>) -> Trouble? {
    if case CacheError.partlyStored(_, _, let error)? = outcome.failure {
      error as? Trouble
    } else {
      nil
    }
  }

  @Test func `a get delivers its value although the write-back fails`() {
    lower.set(1, for: "a")
    upper.failChanges(of: "a", with: Trouble(name: "full"))

    recorder.subscribe(to: upper.layered(over: lower).get("a"))

    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test func `a get does not wait for a write-back that hangs`() {
    lower.set(1, for: "a")
    let hanging = AnyCache<String, Int>(
      get: { _ in .empty }, set: { _, _ in .never }, remove: { _ in .never }, removeAll: { .never })

    recorder.subscribe(to: hanging.layered(over: lower).get("a"))

    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test func `a cache can be layered over itself`() {
    let twice = upper.layered(over: upper)

    twice.set(1, for: "a")
    recorder.subscribe(to: twice.get("a"))

    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test func `a value from below keeps its age above`() {
    let clock = ManualClock()
    let below = MemoryCache<String, Int>(countLimit: 10, clock: clock)
    let above = MemoryCache<String, Int>(countLimit: 10, clock: clock)
    below.set(1, for: "a")
    clock.advance(by: .seconds(29 * 60))

    recorder.subscribe(to: above.layered(over: below).get("a"))
    clock.advance(by: .seconds(60))

    let stamped = Recorder<Stamped<Int>>().subscribe(to: above.getStamped("a", Lookup()))
    #expect(stamped.values.map(\.age) == [.seconds(30 * 60)])
  }

  @Test func `progress passes up through the layers`() {
    let origin = TestOrigin<String, Int>()
    recorder.subscribe(to: upper.layered(over: lower.layered(over: origin)).get("a"))

    origin["a"].progress(SignalProgress(completed: 1, total: 4))

    #expect(recorder.transcript == ["progress 1/4"])
  }

  @Test func `disposal stops the lower layer's work, and nothing is stored after it`() {
    let origin = TestOrigin<String, Int>()
    recorder.subscribe(to: upper.layered(over: origin).get("a"))

    recorder.dispose()
    origin["a"].next(1)

    #expect(origin["a"].disposals == 1)
    #expect(upper.contents == [:])
    #expect(recorder.transcript == [])
  }

  @Test(arguments: [true, false])
  func `nothing is sent to an observer that has left in its first value`(isInMemory: Bool) {
    let memory = MemoryCache<String, Int>(countLimit: 10)
    if isInMemory { memory.set(1, for: "a") } else { lower.set(1, for: "a") }
    let (lifetime, received) = (Lifetime(), Locked<[String]>([]))

    memory.layered(over: lower).getStamped("a", Lookup()).run(
      Observer(next: { _ in
        received.withLock { $0.append("next") }
        lifetime.end()
      }) { _ in received.withLock { $0.append("other") } }, lifetime)

    #expect(received.withLock { $0 } == ["next"])
  }
}
