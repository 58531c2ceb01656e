import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Writes that come between the two steps of an assignment: the entry is visible, and the stored
/// value is not removed yet.
///
/// The second step hashes the key before it takes a lock, so a write can be made there.
@Suite struct MemoryCacheAssignmentTests {
  /// A key that does something when it is hashed for the given time.
  struct Key: Hashable, Sendable {
    let hook = Hook()

    static func == (one: Key, other: Key) -> Bool { true }

    func hash(into hasher: inout Hasher) { hook.pass() }
  }

  final class Hook: Sendable {
    private let state = Locked<(count: Int, act: (at: Int, run: @Sendable () -> Void)?)>((0, nil))

    var count: Int { state.withLock { $0.count } }

    func act(at count: Int, _ run: @escaping @Sendable () -> Void) {
      state.withLock { $0.act = (count, run) }
    }

    func pass() {
      let run = state.withLock { state in
        state.count += 1
        defer { if state.count == state.act?.at { state.act = nil } }
        return state.count == state.act?.at ? state.act?.run : nil
      }
      run?()
    }
  }

  let cache = MemoryCache<Key, Int>(countLimit: 10)
  let source = TestSource<Int>()

  /// Assigns the signal of the source, with a write before the second step.
  private func assign(_ write: @escaping @Sendable (MemoryCache<Key, Int>) -> Void) {
    let key = Key()
    key.hook.act(at: Self.firstHashOfSecondStep) { [cache] in write(cache) }
    cache[key] = source.signal
    #expect(key.hook.count >= Self.firstHashOfSecondStep)
  }

  /// The number of times that an assignment hashes its key before the second step, and once more:
  /// that step is a removal.
  private static let firstHashOfSecondStep: Int = {
    let (assigned, removed) = (Key(), Key())
    MemoryCache<Key, Int>(countLimit: 10)[assigned] = .never
    MemoryCache<Key, Int>(countLimit: 10).remove(removed)
    return assigned.hook.count - removed.hook.count + 1
  }()

  private func subscribe() -> Recorder<Int> {
    Recorder<Int>().subscribe(to: cache[Key()] ?? .empty)
  }

  @Test func `a set between the steps wins, and the entry has no more callers`() {
    assign { $0.set(9, for: Key()) }

    #expect(subscribe().transcript == ["next 9", "completed"])
    #expect(source.subscriptions == 0)
    #expect(cache.peek(Key()) == 9)
  }

  @Test func `a removal between the steps wins, and leaves neither an entry nor a value`() {
    cache.set(1, for: Key())

    assign { $0.remove(Key()) }

    #expect(cache[Key()] == nil)
    #expect(cache.peek(Key()) == nil)
  }

  @Test func `an assignment between the steps wins, and its value stays`() {
    assign { $0[Key()] = .just(7) }

    #expect(subscribe().transcript == ["next 7", "completed"])
    #expect(source.subscriptions == 0)
    #expect(cache.peek(Key()) == 7)
  }

  @Test func `a value that a get fills in between the steps is removed with the former one`() {
    let token = FillToken()

    assign { _ = $0.apply(.fill(Key(), Stamped(5), token)) }
    let recorder = subscribe()
    source.next(1)
    source.completed()

    #expect(recorder.values == [1])
    #expect(cache.peek(Key()) == 1)
  }

  /// A clock that does something when it is read for the first time after `act` was set.
  final class HookedClock: Clock {
    let base = ManualClock()
    let act = Locked<(@Sendable () -> Void)?>(nil)

    var now: ManualClock.Instant {
      act.withLock { act in
        defer { act = nil }
        return act
      }?()
      return base.now
    }

    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
      try await base.sleep(until: deadline, tolerance: tolerance)
    }
  }

  @Test(arguments: [true, false])
  func `a write after the revision of an assignment and before its first step wins`(isSet: Bool) {
    let clock = HookedClock()
    let cache = MemoryCache<String, Int>(countLimit: 10, clock: clock)
    // The first entry of a cache makes the clock of its flights, after the revision was taken.
    clock.act.withLock { act in
      act = { if isSet { cache.set(9, for: "a") } else { cache.remove("a") } }
    }

    cache["a"] = source.signal
    let recorder = Recorder<Int>().subscribe(to: cache["a"] ?? .empty)

    #expect(clock.act.withLock { $0 == nil })
    #expect(recorder.values == (isSet ? [9] : []))
    #expect(source.subscriptions == 0)
    #expect(cache.peek("a") == (isSet ? 9 : nil))
  }
}
