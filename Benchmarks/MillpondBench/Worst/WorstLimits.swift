import MillpondCore
import MillpondSignals

/// Returns the rows about many gets that wait for few slots.
func worstLimitRows() -> [WorstRow] {
  [
    WorstRow(
      name: "worst-limited-leave", summary: "n gets that wait for a slot leave, the last first"
    ) { count in
      let source = NeverSource().limited(to: 1)
      let gets = Gets(count) { source.get($0) }
      return WorstCase {
        _ = gets.end(count)
      } neighbour: {
        source.get(-1).subscribe().dispose()
      } check: {
        true
      }
    },
    WorstRow(
      name: "worst-limited-fallen",
      summary: "the next slot after n raised gets have become low again",
      unit: .single, greatest: 100_000
    ) { count in
      let source = NeverSource().limited(to: 1)
      let shared = source.reusingInFlight()
      let holder = source.get(-1).subscribe()
      let low = Gets(count) { shared.get($0, priority: .low) }
      let raising = Gets(count) { shared.get($0, priority: .high) }
      _ = raising.end(count)
      return WorstCase {
        holder.dispose()
      } neighbour: {
        source.get(-2).subscribe().dispose()
      } check: {
        low.end(count)
      }
    },
    WorstRow(
      name: "worst-limited-next", summary: "an unrelated get while n waiting gets end at once",
      unit: .single, greatest: 100_000
    ) { count in
      let slots = SlowThenQuick()
      let source = slots.limited(to: 1)
      let gets = Gets(count + 1) { source.get($0) }
      return WorstCase {
        slots.first.completed()
      } neighbour: {
        source.get(-2).subscribe().dispose()
      } check: {
        gets.end(count + 1)
      }
    },
    WorstRow(
      name: "worst-rate-limited-leave",
      summary: "n gets that wait for their turn leave, the last first"
    ) { count in
      let source = NeverSource().rateLimited(to: 1, per: .seconds(3_600))
      let gets = Gets(count) { source.get($0) }
      return WorstCase {
        _ = gets.end(count)
      } neighbour: {
        source.get(-1).subscribe().dispose()
      } check: {
        true
      }
    },
  ]
}

/// A source whose first key waits for its subject; all others are answered at once.
private final class SlowThenQuick: Source {
  let first = PublishSubject<Int>()

  func get(_ key: Int, _ lookup: Lookup) -> Signal<Int> {
    key == 0 ? first.signal : .just(key)
  }
}
