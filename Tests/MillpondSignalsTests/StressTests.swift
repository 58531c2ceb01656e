import Dispatch
import MillpondSignals
import MillpondTesting
import Synchronization
import TestTraits
import Testing

/// Four threads that send at once; one test after the other, since two would share the processors.
@Suite(.heavy) struct StressTests {
  static let producers = 4
  static let count = Sanitizer.isPresent ? 10_000 : Effort.rounds(100_000, few: 40_000)

  @Test func `a pipe loses nothing, keeps each sender's order and does not overlap`() async throws {
    let pipe = PublishSubject<Ticket>()
    let counter = Counter()
    pipe.signal.subscribe(onNext: { counter.receive($0) })

    try await race(Self.producers) { producer in
      for number in 0..<Self.count { pipe.next(Ticket(producer, number)) }
    }

    #expect(counter.result == .everything)
  }

  @Test func `all subscribers of a pipe see one order`() async throws {
    let pipe = PublishSubject<Ticket>()
    let counters = [Counter(), Counter()]
    for counter in counters { pipe.signal.subscribe(onNext: { counter.receive($0) }) }

    try await race(Self.producers) { producer in
      for number in 0..<Self.count { pipe.next(Ticket(producer, number)) }
    }

    #expect(counters[0].order == counters[1].order)
    #expect(counters[0].result == .everything)
  }

  @Test func `a merging flatMap loses nothing, keeps each inner order and does not overlap`()
    async throws
  {
    let pipes = (0..<Self.producers).map { _ in PublishSubject<Ticket>() }
    let counter = Counter()
    let ends = Journal<Bool>()
    Signal.from(0..<Self.producers).flatMap(.merge) { pipes[$0].signal }
      .subscribe(onNext: { counter.receive($0) }, onCompleted: { ends.write(true) })

    try await race(Self.producers) { producer in
      for number in 0..<Self.count { pipes[producer].next(Ticket(producer, number)) }
      pipes[producer].completed()
    }

    #expect(counter.result == .everything)
    #expect(ends.entries == [true])
  }

  @Test func `combineLatest sends once for each value, one step further each time`() async throws {
    let pipes = (0..<Self.producers).map { _ in PublishSubject<Int>() }
    let steps = Steps()
    combineLatest(pipes[0].signal, pipes[1].signal, pipes[2].signal, pipes[3].signal)
      .subscribe(onNext: { steps.receive([$0.0, $0.1, $0.2, $0.3]) })
    for pipe in pipes { pipe.next(0) }

    try await race(Self.producers) { producer in
      for number in 1...Self.count { pipes[producer].next(number) }
    }

    let result = steps.result
    #expect(result.count == Self.producers * Self.count + 1)
    #expect(result.latest == Array(repeating: Self.count, count: Self.producers))
    #expect(result.leaps == 0)
    #expect(result.overlaps == 0)
  }

  @Test func `replayLast loses nothing, and all see one order without overlap`() async throws {
    let pipe = PublishSubject<Ticket>()
    let shared = pipe.signal.replayLast()
    let counters = [Counter(), Counter()]
    for counter in counters { shared.subscribe(onNext: { counter.receive($0) }) }

    try await race(Self.producers) { producer in
      for number in 0..<Self.count { pipe.next(Ticket(producer, number)) }
    }

    #expect(counters[0].result == .everything)
    #expect(counters[1].result == .everything)
    #expect(counters[0].order == counters[1].order)
  }

  @Test func `two thousand races for the first subscription of replayLast start a run each`()
    async throws
  {
    let done = Watched(false)
    let runs = Journal<Int>()
    let values = Journal<Int>()
    onThread {
      for round in 0..<2_000 {
        let bag = DisposableBag()
        let shared = Signal<Int> { observer, _ in
          runs.write(round)
          observer.next(round)
        }.replayLast()
        DispatchQueue.concurrentPerform(iterations: Self.producers) { _ in
          shared.subscribe(onNext: { values.write($0) }).disposed(by: bag)
        }
        bag.dispose()
      }
      done.change { $0 = true }
    }

    try await done.wait(for: "the rounds to be over") { $0 }

    #expect(runs.entries == Array(0..<2_000))
    #expect(values.entries == (0..<2_000).flatMap { Array(repeating: $0, count: Self.producers) })
  }
}

/// A sender and the number of its message.
private struct Ticket: Sendable, Equatable {
  let producer: Int
  let number: Int

  init(_ producer: Int, _ number: Int) {
    self.producer = producer
    self.number = number
  }
}

/// A detector of overlapping deliveries.
private final class Entrance: Sendable {
  private let isBusy = Atomic(false)
  private let count = Atomic(0)

  var overlaps: Int {
    count.load(ordering: .acquiring)
  }

  func pass(_ body: () -> Void) {
    if isBusy.exchange(true, ordering: .acquiringAndReleasing) {
      count.add(1, ordering: .acquiringAndReleasing)
    }
    body()
    isBusy.store(false, ordering: .releasing)
  }
}

/// Checks that all tickets of each producer come, in order.
private final class Counter: Sendable {
  struct Result: Equatable {
    var received: [Int]
    var disorder: Int
    var overlaps: Int

    static let everything = Result(
      received: Array(repeating: StressTests.count, count: StressTests.producers),
      disorder: 0, overlaps: 0)
  }

  private struct State: Sendable {
    var order: [Ticket] = []
    var received = Array(repeating: 0, count: StressTests.producers)
    var disorder = 0
  }

  private let entrance = Entrance()
  private let state = Locked(State())

  var result: Result {
    let (received, disorder) = state.withLock { ($0.received, $0.disorder) }
    return Result(received: received, disorder: disorder, overlaps: entrance.overlaps)
  }

  var order: [Ticket] {
    state.withLock { $0.order }
  }

  func receive(_ ticket: Ticket) {
    entrance.pass {
      state.withLock { state in
        if ticket.number != state.received[ticket.producer] { state.disorder += 1 }
        state.received[ticket.producer] += 1
        state.order.append(ticket)
      }
    }
  }
}

/// Checks that each combination is one step further than the one before, in one place.
private final class Steps: Sendable {
  struct Result {
    var count: Int
    var latest: [Int]
    var leaps: Int
    var overlaps: Int
  }

  private struct State: Sendable {
    var count = 0
    var latest: [Int] = []
    var leaps = 0
  }

  private let entrance = Entrance()
  private let state = Locked(State())

  var result: Result {
    let state = state.withLock { $0 }
    return Result(
      count: state.count, latest: state.latest, leaps: state.leaps, overlaps: entrance.overlaps)
  }

  func receive(_ combination: [Int]) {
    entrance.pass {
      state.withLock { state in
        state.count += 1
        var (moved, distance) = (0, 0)
        for (new, old) in zip(combination, state.latest) where new != old {
          moved += 1
          distance += new - old
        }
        if !state.latest.isEmpty, (moved, distance) != (1, 1) { state.leaps += 1 }
        state.latest = combination
      }
    }
  }
}
