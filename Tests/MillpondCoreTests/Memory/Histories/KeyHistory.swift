import Synchronization

/// An operation on one key, and its result.
enum KeyAction: Sendable, Equatable {
  case set(Int)
  case remove
  case get(Int?)
}

/// An action, and when it began and ended.
struct KeyOperation: Sendable {
  let action: KeyAction
  let began: Int
  let ended: Int
}

/// The concurrent operations of threads on one key.
struct KeyHistory: Sendable {
  /// The events: at most 64, with each value set once.
  var events: [KeyOperation] = []

  /// Whether all this can have happened one after the other, each somewhere between its beginning
  /// and its end, beginning with no value.
  ///
  /// - Parameter evicts: Whether a value may be evicted at any time, never to return.
  /// - Source: Wing, Gong 1993, with the visited states remembered as Lowe 2017 does.
  func isInOrder(evicts: Bool = false) -> Bool {
    var search = KeyHistorySearch(events: events, evicts: evicts)
    return search.canFinish(from: KeyHistorySearch.State(done: 0, value: nil))
  }
}

private struct KeyHistorySearch {
  struct State: Hashable {
    var done: UInt64
    var value: Int?
  }

  let events: [KeyOperation]
  let evicts: Bool
  var visited: Set<State> = []

  mutating func canFinish(from state: State) -> Bool {
    guard visited.insert(state).inserted else { return false }
    let left = events.indices.filter { state.done >> UInt64($0) & 1 == 0 }
    // An event that began after the end of another comes after it.
    guard let firstEnd = left.map({ events[$0].ended }).min() else { return true }
    for number in left where events[number].began < firstEnd {
      guard var next = after(events[number].action, state) else { continue }
      next.done |= 1 << UInt64(number)
      if canFinish(from: next) { return true }
    }
    return false
  }

  private func after(_ action: KeyAction, _ state: State) -> State? {
    switch action {
    case .set(let value): State(done: state.done, value: value)
    case .remove: State(done: state.done, value: nil)
    case .get(state.value): state
    case .get(nil) where evicts: State(done: state.done, value: nil)
    case .get: nil
    }
  }
}

/// The recorder of a thread's operations.
struct KeyHistoryWriter {
  let time: KeyHistoryTime
  var histories: [Int: KeyHistory] = [:]

  init(_ time: KeyHistoryTime) {
    self.time = time
  }

  mutating func write(_ key: Int, _ act: () -> KeyAction) {
    let began = time.next()
    let action = act()
    histories[key, default: KeyHistory()].events.append(
      KeyOperation(action: action, began: began, ended: time.next()))
  }
}

/// A time that all threads agree on.
final class KeyHistoryTime: Sendable {
  private let moments = Atomic<Int>(0)

  func next() -> Int {
    moments.add(1, ordering: .sequentiallyConsistent).newValue
  }
}

/// Whether a removed or overwritten value was seen again by one thread; the values of the key are
/// set in rising order.
func cameBack(_ values: [Int?]) -> Bool {
  var (last, isGone) = (Int.min, false)
  for value in values {
    guard let value else {
      isGone = true
      continue
    }
    if value < last || value == last && isGone { return true }
    (last, isGone) = (value, false)
  }
  return false
}
