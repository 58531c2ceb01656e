import Foundation
public import MillpondCore
public import MillpondSignals

extension DiskCache {
  /// Whether there is a value for `key`, as far as that can be said without reading it; it does not
  /// count as asked for.
  public func contains(_ key: String) -> Signal<Bool> {
    reading { $0.has(key) }
  }

  /// How many values there are, those included that are still to be written, or whose time is over.
  public var count: Signal<Int> {
    reading { $0.state.withLock { $0.index.count } }
  }

  /// How much of the limit they take.
  public var totalBytes: Signal<Int> {
    reading { $0.state.withLock { $0.index.totalCost } }
  }

  /// What has been done since the folder was opened; nothing before that.
  public var statistics: DiskStatistics {
    access.store?.state.withLock { $0.index.statistics } ?? DiskStatistics()
  }

  /// One store; once it is open it knows which keys it has.
  public func layout(for key: String?) -> Layout {
    Layout(
      .store, "DiskCache", holds: key.flatMap { access.store?.has($0) },
      size: { [access] in
        access.store?.state.withLock {
          LayerSize(count: $0.index.count, cost: $0.index.totalCost)
        } ?? LayerSize(count: 0, cost: 0)
      })
  }

  private func reading<Value: Sendable>(
    _ value: @escaping @Sendable (DiskStore) -> Value
  ) -> Signal<Value> {
    asking { store, observer, _ in
      observer.next(value(store))
      observer.completed()
    }
  }
}
