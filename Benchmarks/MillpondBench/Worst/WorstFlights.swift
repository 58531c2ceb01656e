import MillpondCore
import MillpondSignals

/// Bulk operations on running gets, callers that wait for a limit, and subscribers.
func worstFlightRows() -> [Row] {
  [
    .worst(
      "flights-start", "n gets of different keys that start and share", greatest: 10_000, wait: 1
    ) { count in
      let source = NeverSource().reusingInFlight()
      let gets = Gets()
      return WorstCase(neighbour: { source.get(-1).subscribe().dispose() }) {
        for key in 0..<count { gets.add(source.get(key)) }
      } check: {
        gets.end(count)
      }
    },
    .leaving("flights-leave", "the last caller of each of n flights leaves") {
      let source = NeverSource().reusingInFlight()
      return { source.get($0) }
    },
    .leaving("flights-joiners", "n callers leave one flight, the last first") {
      let source = NeverSource().reusingInFlight()
      return { source.get(min(0, $0)) }
    },
    .leaving("batch-leave", "n callers of one batched key leave, the last first") {
      let source = BulkSource<Int, Int> { _ in .never }.batching(window: .seconds(3_600), max: 10)
      return { source.get(min(0, $0)) }
    },
    .leaving("limited-leave", "n gets that wait for a slot leave, the last first") {
      let source = NeverSource().limited(to: 1)
      return { source.get($0) }
    },
    .leaving("rate-limited-leave", "n gets that wait for their turn leave, the last first") {
      let source = NeverSource().rateLimited(to: 1, per: .seconds(3_600))
      return { source.get($0) }
    },
    .leaving("subject-leave", "n subscribers leave a subject, the last first", greatest: 1_000) {
      let subject = PublishSubject<Int>()
      return { _ in subject.signal }
    },
    .worst("flights-list", "the list of n flights", greatest: 10_000, wait: 1) { count in
      let source = NeverSource().reusingInFlight()
      let gets = Gets(count) { source.get($0) }
      var listed = 0
      // Joins a flight, so that the number of flights stays the same.
      return WorstCase(neighbour: { source.get(0).subscribe().dispose() }) {
        listed = source.flights.count
      } check: {
        gets.end(count) && listed == count
      }
    },
    .worst(
      "flights-detach", "removeAll with n running flights, which it detaches", greatest: 10_000,
      wait: 1
    ) { count in
      let source = MemoryCache<Int, Int>(countLimit: 10).layered(over: NeverSource())
        .reusingInFlight()
      let gets = Gets(count) { source.get($0) }
      return WorstCase(neighbour: { source.get(-1).subscribe().dispose() }) {
        source.removeAll()
      } check: {
        source.flights.isEmpty && gets.end(count)
      }
    },
    .worst(
      "limited-next", "an unrelated get while n waiting gets end at once", .single,
      greatest: 10_000, wait: 1
    ) { count in
      let slots = SlowThenQuick()
      let source = slots.limited(to: 1)
      let gets = Gets(count + 1) { source.get($0) }
      return WorstCase(neighbour: { source.get(-2).subscribe().dispose() }) {
        slots.first.completed()
      } check: {
        gets.end(count + 1)
      }
    },
  ]
}

extension Row {
  /// Returns a row about gets that end one by one, the last first, while others come and leave.
  ///
  /// - Parameter make: Returns the get of each number; -1 is that of the others.
  fileprivate static func leaving(
    _ name: String, _ summary: String, greatest: Int = 10_000,
    _ make: @escaping () -> @Sendable (Int) -> Signal<Int>
  ) -> Row {
    worst(name, summary, greatest: greatest, wait: 1) { count in
      let get = make()
      let gets = Gets(count, get)
      var isRight = false
      return WorstCase(neighbour: { get(-1).subscribe().dispose() }) {
        isRight = gets.end(count)
      } check: {
        isRight
      }
    }
  }
}

/// A source that never answers.
struct NeverSource: Source {
  func get(_ key: Int, _ lookup: Lookup) -> Signal<Int> {
    .never
  }
}

/// Running gets.
private final class Gets {
  private var subscriptions: [Disposable] = []

  init() {}

  init(_ count: Int, _ get: (Int) -> Signal<Int>) {
    subscriptions.reserveCapacity(count)
    for number in 0..<count { add(get(number)) }
  }

  func add(_ get: Signal<Int>) {
    subscriptions.append(get.subscribe())
  }

  /// Disposes of all, the last first, and returns whether there were `count` of them.
  func end(_ count: Int) -> Bool {
    let isRight = subscriptions.count == count
    while let last = subscriptions.popLast() { last.dispose() }
    return isRight
  }
}

/// A source whose first key waits for its subject; all others are answered at once.
private final class SlowThenQuick: Source {
  let first = PublishSubject<Int>()

  func get(_ key: Int, _ lookup: Lookup) -> Signal<Int> {
    key == 0 ? first.signal : .just(key)
  }
}
