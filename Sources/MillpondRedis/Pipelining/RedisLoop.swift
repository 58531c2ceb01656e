import Foundation
import MillpondSignals
import Synchronization
import MillpondSockets

/// The thread of a client's connections, which reads, keeps deadlines, and connects again.
final class RedisLoop: Sendable {
  let connections: [RedisConnection]
  let tracker: RedisTracker
  private let settings: RedisSettings
  let wake: WakePipe

  /// Sends the statistics when the state of a connection has changed.
  let changes = PublishSubject<RedisStatistics>()

  /// What the thread does: nothing yet, its work, its work until the last answer, or nothing any
  /// more.
  enum Phase: UInt8, AtomicRepresentable, Sendable {
    case idle, running, released, stopped
  }

  let phase = AtomicValue(Phase.idle)

  init(_ settings: RedisSettings) throws(RedisError) {
    self.settings = settings
    do throws(SocketError) {
      wake = try WakePipe()
    } catch {
      throw RedisError(error)
    }
    let wake = wake
    connections = (0..<settings.connections).map {
      RedisConnection($0, settings.limits, wake, to: settings.address)
    }
    tracker = RedisTracker(settings.tracking, connections)
  }

  /// Starts the thread, unless it has been started.
  func start() {
    if phase.load(ordering: .relaxed) != .idle || !advance(from: .idle, to: .running) { return }
    let thread = Thread { self.run() }
    thread.name = "millpond.redis"
    thread.start()
  }

  private func advance(from former: Phase, to next: Phase) -> Bool {
    phase.compareExchange(
      expected: former, desired: next, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Makes the thread look at what has changed.
  func wakeUp() { wake.signal() }

  /// Fails all commands and ends the thread.
  func stop() {
    let former = phase.exchange(.stopped, ordering: .acquiringAndReleasing)
    if former == .idle { closeAll() } else { wake.signal() }
  }

  /// Ends the thread when all commands are answered.
  func release() {
    if advance(from: .running, to: .released) { wake.signal() } else { stop() }
  }

  private func run() {
    var drivers: [RedisConnectionDriver] = []
    var watches = [SocketCalls.Watch(descriptor: wake.descriptor)]
    // Half of what a server writes at once: it carries out the commands of the first half's
    // receivers while those of the second half run. Measured by `millpond-bench redis`: 1.6 times
    // the gets with 64 under way.
    var room = [UInt8](repeating: 0, count: 32 << 10)
    // The time of the next look at the connections; commands that come before need none earlier.
    var look: Int64? = 0
    var reported = statistics
    while !isOver {
      let now = SocketCalls.now()
      if let time = look, time <= now {
        look = nil
        // A cluster may have got further servers.
        for node in nodes.dropFirst(drivers.count) {
          drivers.append(RedisConnectionDriver(node, settings, tracker, wake))
          watches.append(SocketCalls.Watch(descriptor: -1))
        }
        for place in drivers.indices {
          if let time = drivers[place].tend(at: now) { look = min(look ?? time, time) }
          watches[place + 1] = drivers[place].watch
        }
        report(after: &reported)
      }
      SocketCalls.wait(for: &watches, atMost: look.map { max(0, $0 - now) })
      if watches[0].isReadable {
        wake.clear()
        look = 0
      }
      for place in drivers.indices where drivers[place].act(on: watches[place + 1], &room) {
        look = 0
      }
    }
    closeAll()
  }

  /// The servers of all connections.
  var nodes: [RedisNode] { connections.flatMap(\.nodes) }

  /// Those of them that have keys, or commands to answer.
  var usedNodes: [RedisNode] {
    nodes.filter { node in node.withState { !$0.isRetired || $0.pipeline.count > 0 } }
  }

  /// The number of times that slots of a cluster have begun to move.
  var moves: Int { connections.reduce(0) { $0 + $1.withState { $0.moves } } }

  /// The number of commands that a cluster's servers have sent on.
  var detours: Int { connections.reduce(0) { $0 + $1.withState { $0.detours } } }

  var isCluster: Bool { settings.address.isCluster }

  /// The present statistics.
  var statistics: RedisStatistics {
    var statistics = RedisStatistics()
    statistics.isTracking = tracker.isInForce
    for node in nodes {
      node.withState { statistics.add($0) }
    }
    return statistics
  }

  private func report(after last: inout RedisStatistics) {
    let states = nodes.compactMap { node in
      node.withState { $0.isRetired ? nil : RedisStatistics.State($0.pipeline.phase) }
    }
    if states == last.connections.map(\.state), tracker.isInForce == last.isTracking { return }
    last = statistics
    changes.next(last)
  }

  private var isOver: Bool {
    switch phase.load(ordering: .acquiring) {
    case .idle, .running: false
    case .released:
      nodes.allSatisfy { node in node.withState { $0.isDone } }
    case .stopped: true
    }
  }

  /// Fails all commands, at the end of the thread or in its place.
  func closeAll() {
    for node in nodes {
      tracker.ended(on: node)
      for answer in node.withState({ $0.close() }) { answer(.failure(.closed)) }
    }
    changes.completed()
  }
}
