import MillpondCore
import MillpondSignals
import MillpondTesting

/// An origin whose answers are remembered, a clock, and callers.
final class RememberedScene: Sendable {
  typealias Users = Remembered<MemoryCache<String, Int>, TestOrigin<String, Int>>

  let clock = ManualClock()
  let origin = TestOrigin<String, Int>()
  let memory: MemoryCache<String, Int>
  private let remembered: Locked<Users?>

  init(_ policy: FreshnessPolicy) {
    let memory = MemoryCache<String, Int>(countLimit: 100, clock: clock)
    self.memory = memory
    remembered = Locked(origin.remembered(in: memory, policy, clock: clock))
  }

  /// Makes a scene in which 1 was fetched for "a", `age` ago.
  convenience init(_ policy: FreshnessPolicy, age: Duration) {
    self.init(policy)
    let first = get()
    answer(1)
    _ = first
    clock.advance(by: age)
  }

  /// The map under test, until it is released.
  var users: Users {
    guard let users = remembered.withLock({ $0 }) else { preconditionFailure("it was released") }
    return users
  }

  func release() {
    let gone = remembered.withLock { remembered in
      defer { remembered = nil }
      return remembered
    }
    _ = gone
  }

  /// Subscribes to "a".
  func get(freshness: Freshness = .any, stale: StaleUse? = nil) -> Recorder<Int> {
    Recorder().subscribe(to: users.get("a", freshness: freshness, stale: stale))
  }

  /// Subscribes to "a" and its age.
  func getAge(_ lookup: Lookup = Lookup()) -> Recorder<Stamped<Int>> {
    Recorder().subscribe(to: users.getStamped("a", lookup))
  }

  /// The past and present runs of the origin for "a".
  var fetches: [TestRun<Int>] { origin["a"].runs }

  /// Answers the running fetches of "a".
  func answer(_ value: Int) {
    origin["a"].next(value)
    origin["a"].completed()
  }

  func answer(_ fetch: Int, _ value: Int) {
    fetches[fetch].next(value)
    fetches[fetch].completed()
  }

  func fail(_ error: any Error) {
    origin["a"].failed(error)
  }
}

/// The origin could not be reached.
struct Offline: ConnectivityError {
  var isLossOfConnectivity: Bool { true }
}

/// The origin was reached, and refused the request.
struct Refused: Error {}

extension FreshnessPolicy {
  /// Fresh for ten seconds.
  static func ten(
    usableFor: TimeToLive = .forever, stale: StaleUse = .onNamedErrors,
    refreshAhead: Duration = .zero, maxRefreshes: Int = 64,
    failureLife: @escaping @Sendable (any Error) -> Duration = { _ in .zero }
  ) -> FreshnessPolicy {
    FreshnessPolicy(
      freshFor: .after(.seconds(10)), usableFor: usableFor, stale: stale,
      refreshAhead: refreshAhead, refreshDeadline: .seconds(30), maxRefreshes: maxRefreshes,
      failureLife: failureLife)
  }
}
