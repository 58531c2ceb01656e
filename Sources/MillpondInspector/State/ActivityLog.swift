import MillpondCore
import MillpondSignals

/// The latest gets of a composition, and the counts of its layers, for one open page.
final class ActivityLog: Sendable {
  /// The greatest number of gets that are kept.
  static let limit = 1_000

  /// The greatest number of layers that are counted.
  private static let layerLimit = 200

  /// The gets since the last look.
  struct News: Sendable {
    var entries: [RecentGets.Entry] = []

    /// The number of gets that are left out.
    var skipped = 0

    /// The number of gets so far.
    var count = 0

    /// The counts of events since the page was opened.
    var statistics: [String: CacheStatistics] = [:]
  }

  private struct State: Sendable {
    var ring = RecentGets(limit: limit)
    var told = 0
    var statistics: [String: CacheStatistics] = [:]
  }

  private let state = Locked(State())

  /// Receives a get that has ended.
  func receive(_ record: GetRecord) {
    let now = ContinuousClock.now
    state.discard { $0.ring.append(record, at: now) }
  }

  /// Counts an event; not from the records, in which an event of a flight is one of each caller.
  func receive(_ event: CacheEvent) {
    state.withLock { state in
      if state.statistics.count < Self.layerLimit || state.statistics[event.layer] != nil {
        state.statistics[event.layer, default: CacheStatistics()].count(event)
      }
    }
  }

  /// Receives the gets and events of a monitor until the bag is disposed of.
  func observe(_ monitor: CacheMonitor, until bag: DisposableBag) {
    monitor.events.subscribe(onNext: { self.receive($0) }).disposed(by: bag)
    monitor.gets.subscribe(onNext: { self.receive($0) }).disposed(by: bag)
  }

  /// Returns what happened since the last call; of many gets the newest.
  func news(limit: Int) -> News {
    state.withLock { state in
      let entries = state.ring.latest(from: state.told, limit: limit)
      let count = state.ring.count
      defer { state.told = count }
      return News(
        entries: entries, skipped: count - state.told - entries.count, count: count,
        statistics: state.statistics)
    }
  }

  /// The keys of the latest gets, the newest first.
  var keys: [any Hashable & Sendable] {
    state.withLock { $0.ring.latest(from: 0, limit: Self.limit) }.reversed()
      .compactMap(\.record.key)
  }
}
