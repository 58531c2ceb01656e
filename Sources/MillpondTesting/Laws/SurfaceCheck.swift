public import MillpondCore
import MillpondSignals

/// Asks a cache for a key in every way there is, and finds ways that disagree.
///
///     let surfaces = SurfaceCheck(users)
///     #expect(surfaces.disagreements(about: 7) == [])
///     try await session.end().value
///     #expect(surfaces.traces(of: 0..<100) == [])
///
/// The ways are `now`, gets of any and of a stored value, their ages, `states` of an
/// ``/MillpondCore/ObservableCache``, and the topology. What may differ, because the documentation
/// says so: a state may show a value that is not stored (any more), and only a get can tell what a
/// store below memory has.
///
/// Only answers that come inside the subscription are compared. A get of any value is made only
/// where `now` has one, so nothing is fetched.
///
/// - Note: Any thread; while another one writes, ways may differ.
public struct SurfaceCheck<Key: Hashable & Sendable, Value: Sendable & Equatable>: Sendable {
  private let now: @Sendable (Key) -> Value?
  private let get: @Sendable (Key, Freshness) -> Signal<Value>
  private let stamped: @Sendable (Key) -> Signal<Stamped<Value>>
  private let topology: @Sendable (Key) -> Topology
  private let states: (@Sendable (Key) -> Signal<ResourceState<Value>>)?

  /// Creates the check of a cache.
  public init(_ cache: some Cache<Key, Value>) {
    now = { cache.now($0) }
    get = { cache.get($0, freshness: $1) }
    stamped = { cache.getStamped($0, Lookup(freshness: .cachedOnly)) }
    topology = { cache.topology(for: $0) }
    let observable = cache as? any ObservableCache<Key, Value>
    states = observable.map { Self.states(of: $0) }
  }

  private static func states(
    of cache: some ObservableCache<Key, Value>
  ) -> @Sendable (Key) -> Signal<ResourceState<Value>> {
    { cache.states(of: $0) }
  }

  /// Returns the ways that disagree about a key, each as a sentence; empty if all agree.
  public func disagreements(about key: Key) -> [String] {
    let stored = first(of: get(key, .cachedOnly))
    let dated = first(of: stamped(key).map { $0.value })
    var found: [String] = []
    if let stored, let dated, stored.value != dated.value {
      found.append("of \(key) a get has \(stored), and one with the age \(dated)")
    }
    if let immediate = now(key) {
      let any = first(of: get(key, .any))
      if any?.value != immediate {
        found.append("of \(key) now is \(immediate), and a get has \(text(any))")
      }
      if let stored, stored.value != immediate {
        found.append("of \(key) now is \(immediate), and what is stored \(stored)")
      }
    }
    if let states, let value = stored?.value {
      let shown = first(of: states(key))?.value?.value
      if shown != value {
        found.append("of \(key) \(value) is stored, and a state shows \(text(shown))")
      }
    }
    let holds = stores(of: key).map(\.holds)
    if let value = stored?.value, !holds.isEmpty, holds.allSatisfy({ $0 == false }) {
      found.append("of \(key) \(value) is stored, and no store has it by the topology")
    }
    return found
  }

  /// Returns the ways that show anything of the keys, each as a sentence; after a sign-out there
  /// must be none.
  public func traces(of keys: some Sequence<Key>) -> [String] {
    keys.flatMap { key -> [String] in
      let ways: [(String, Value?)] = [
        ("now", now(key)), ("a get", first(of: get(key, .cachedOnly))?.value),
        ("a get with the age", first(of: stamped(key))?.value?.value),
        ("a state", states.flatMap { first(of: $0(key))?.value?.value }),
      ]
      let held = stores(of: key).filter { $0.holds == true }.map {
        "the topology says that \($0.title) holds \(key)"
      }
      return ways.compactMap { way, value in value.map { "\(way) of \(key) shows \($0)" } } + held
    }
  }

  private func stores(of key: Key) -> [Topology] {
    var (all, rest) = ([Topology](), [topology(key)])
    while let part = rest.popLast() {
      if part.role == .store { all.append(part) }
      rest += part.parts
    }
    return all
  }

  /// What is sent inside the subscription; nil if the end has not come, and no value.
  private func first<Answer: Sendable>(of signal: Signal<Answer>) -> Immediate<Answer>? {
    let recorder = Recorder<Answer>().subscribe(to: signal)
    defer { recorder.dispose() }
    if let value = recorder.values.last { return Immediate(value: value) }
    return recorder.end == nil ? nil : Immediate(value: nil)
  }

  private struct Immediate<Answer>: CustomStringConvertible {
    let value: Answer?
    var description: String { value.map { "\($0)" } ?? "nothing" }
  }

  private func text(_ value: (some Any)?) -> String {
    value.map { "\($0)" } ?? "nothing"
  }
}
