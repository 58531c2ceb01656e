import MillpondCore
import MillpondSignals

/// Bulk operations on running gets.
func worstFlightRows() -> [WorstRow] {
  [
    WorstRow(name: "worst-flights-start", summary: "n gets of different keys that start and share")
    {
      count in
      let source = NeverSource().reusingInFlight()
      let gets = Gets()
      return WorstCase {
        for key in 0..<count { gets.add(source.get(key)) }
      } neighbour: {
        source.get(-1).subscribe().dispose()
      } check: {
        gets.end(count)
      }
    },
    WorstRow(name: "worst-flights-leave", summary: "the last caller of each of n flights leaves") {
      count in
      let source = NeverSource().reusingInFlight()
      let gets = Gets(count) { source.get($0) }
      return WorstCase {
        _ = gets.end(count)
      } neighbour: {
        source.get(-1).subscribe().dispose()
      } check: {
        source.flights.isEmpty
      }
    },
    WorstRow(name: "worst-flights-joiners", summary: "n callers leave one flight, the last first") {
      count in
      let source = NeverSource().reusingInFlight()
      let gets = Gets(count) { _ in source.get(0) }
      return WorstCase {
        _ = gets.end(count)
      } neighbour: {
        source.get(-1).subscribe().dispose()
      } check: {
        source.flights.isEmpty
      }
    },
    .looking("list", "the list of n flights") { $0.flights.count == $1 },
    .looking("diagram", "the diagram of a composition with n flights") { source, _ in
      !source.diagram.isEmpty
    },
    WorstRow(
      name: "worst-flights-detach",
      summary: "removeAll with n running flights, which it detaches"
    ) { count in
      let source = MemoryCache<Int, Int>(countLimit: 10).layered(over: NeverSource())
        .reusingInFlight()
      let gets = Gets(count) { source.get($0) }
      return WorstCase {
        source.removeAll()
      } neighbour: {
        source.get(-1).subscribe().dispose()
      } check: {
        source.flights.isEmpty && gets.end(count)
      }
    },
    WorstRow(
      name: "worst-replayed-set",
      summary: "n sets in a dictionary of replayed signals with n flights",
      greatest: 100_000
    ) { count in
      let source = NeverSource().replayed(
        in: MemoryCache<Int, Int>(countLimit: .max), maxFlights: .max)
      let gets = Gets(count) { source.get(-1 - $0) }
      return WorstCase {
        for key in 0..<count { source.set(key, for: key) }
      } neighbour: {
        _ = source.now(0, Lookup())
      } check: {
        source.now(count - 1, Lookup()) == count - 1 && gets.end(count)
      }
    },
    WorstRow(
      name: "worst-batch-leave", summary: "n callers of one batched key leave, the last first"
    ) { count in
      let source = BulkSource<Int, Int> { _ in .never }.batching(window: .seconds(3_600), max: 10)
      let gets = Gets(count) { _ in source.get(0) }
      let rest = source.get(1).subscribe()
      return WorstCase {
        _ = gets.end(count)
      } neighbour: {
        source.get(1).subscribe().dispose()
      } check: {
        rest.dispose()
        return true
      }
    },
    WorstRow(
      name: "worst-subject-leave", summary: "n subscribers leave a subject, the last first"
    ) { count in
      let subject = PublishSubject<Int>()
      let gets = Gets(count) { _ in subject.signal }
      return WorstCase {
        _ = gets.end(count)
      } neighbour: {
        subject.signal.subscribe().dispose()
      } check: {
        subject.next(1)
        return true
      }
    },
  ]
}

extension WorstRow {
  /// Returns a row that looks at many flights.
  fileprivate static func looking(
    _ name: String, _ summary: String,
    _ look: @escaping @Sendable (InFlightReuse<NeverSource>, _ count: Int) -> Bool
  ) -> WorstRow {
    WorstRow(name: "worst-flights-\(name)", summary: summary) { count in
      let source = NeverSource().reusingInFlight()
      let gets = Gets(count) { source.get($0) }
      var isRight = false
      return WorstCase {
        isRight = look(source, count)
      } neighbour: {
        // Joins a flight, so that the number of flights stays the same.
        source.get(0).subscribe().dispose()
      } check: {
        gets.end(count) && isRight
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
final class Gets {
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
