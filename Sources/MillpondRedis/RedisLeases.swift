import MillpondCore
import MillpondSignals
import Synchronization

/// The leases of a cache's keys: keys on the server that exist for as long as one process fetches.
///
/// Their prefix is that of the cache behind `lease:`, so that no cache takes them for values. A
/// lease ends after the fills of its fetch.
final class RedisLeases: Sendable {
  /// The result of an attempt to take a lease.
  enum Taking: Sendable {
    /// The lease is taken; the token ends it.
    case taken(String)

    /// Another process has it.
    case busy

    /// The server can't be asked.
    case unavailable
  }

  let time: Duration
  private let shared: RedisCache
  private let use: PrefixUse
  private let scheduler = Scheduler(ContinuousClock())

  /// The time after which is asked again, should no report arrive.
  private static let pollingTime = Duration.milliseconds(100)

  init(_ shared: RedisCache, _ time: Duration) {
    self.shared = shared
    self.time = max(.milliseconds(1), time)
    use = shared.redis.loop.tracker.use("lease:" + shared.prefix)
    shared.redis.loop.wakeUp()
  }

  func take(_ key: String, _ done: @escaping @Sendable (Taking) -> Void) {
    let token = String(UInt64.random(in: 0 ... .max), radix: 36)
    let life = Int64(time.nanoseconds / 1_000_000)
    shared.redis.loop.start()
    let answer: RedisAnswer = { result in
      switch result {
      case .success(.null): done(.busy)
      case .success: done(.taken(token))
      case .failure: done(.unavailable)
      }
    }
    // Nobody knows of a lease whose answer does not come.
    _ = route(key).submit(answer, takeBack: ending(key, token)) { _ in
      .command("SET", .key(serverKey(key)), .text(token), "NX", "PX", .number(life))
    }
  }

  /// Ends a lease, unless it has ended by itself and another process has it.
  func end(_ key: String, _ token: String) {
    let (ending, route) = (ending(key, token), route(key))
    route.submit(ending) { [use] result in
      switch result {
      case .success, .failure(.server), .failure(.closed): break
      case .failure: route.takeBack(ending)
      }
      // Not in all ways of tracking does the server report it to the connection that did it.
      use.prefix.changed(key)
    }
  }

  private func ending(_ key: String, _ token: String) -> RedisRequest {
    .script(Self.compareAndDelete, serverKey(key), [.text(token)])
  }

  private static let compareAndDelete =
    "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('UNLINK',KEYS[1]) end return 0"

  /// Calls `act` for changes of a key or of its lease, and after the polling time.
  func follow(_ key: String, during lifetime: Lifetime, _ act: @escaping @Sendable () -> Void) {
    let handles = [
      shared.tracked.follow(key, act), use.prefix.follow(key, act),
      scheduler.schedule(after: Self.pollingTime, act),
    ]
    lifetime.onEnd { for handle in handles { handle.dispose() } }
    // The server tracks by keys what has been read.
    if shared.redis.loop.tracker.isByKey { route(key).submit(.get(serverKey(key))) { _ in } }
  }

  private func route(_ key: String) -> RedisRoute { shared.redis.route(of: serverKey(key)) }

  private func serverKey(_ key: String) -> RedisKey { RedisKey(prefix: use.prefix.text, key: key) }
}

/// A lease that this process has, until its fetch has ended and all fills of that are stored.
final class HeldLease: Sendable {
  private let leases: RedisLeases
  private let key: String
  private let token: String

  /// The number of those who need it: the fetch, and each fill.
  private let users = AtomicValue(1)
  private let isFinished = AtomicValue(false)

  init(_ leases: RedisLeases, _ key: String, _ token: String) {
    self.leases = leases
    self.key = key
    self.token = token
  }

  /// Lets the lease last until the value of a fill is stored.
  func wait(for fill: Signal<Void>) {
    users.add(1, ordering: .relaxed)
    fill.subscribe { event in
      if event.isTerminal { self.leave() }
    }
  }

  /// Lets the lease end when all values are stored, since the fetch has ended, or its caller has
  /// left; once.
  ///
  /// A caller that has its value leaves while the value is on its way to the server.
  func finish() {
    if !isFinished.exchange(true, ordering: .relaxed) { leave() }
  }

  private func leave() {
    let left = users.subtract(1, ordering: .acquiringAndReleasing).newValue
    if left == 0 { leases.end(key, token) }
  }
}
