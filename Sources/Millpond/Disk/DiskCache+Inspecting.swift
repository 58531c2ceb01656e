import Dispatch
import Foundation
public import MillpondCore
public import MillpondSignals

extension DiskCache {
  /// Returns whether there is a value for `key`, as far as is known without reading it; this does
  /// not count as a use.
  public func contains(_ key: String) -> Signal<Bool> {
    withOpenStore { store, observer, _ in
      observer.next(store.has(key))
      observer.completed()
    }
  }

  /// The number of values, including those still to be written and expired ones.
  public var count: Signal<Int> { reading { $0.state.withLock { $0.index.count } } }

  /// The cost of all values, in bytes of the limit.
  public var totalBytes: Signal<Int> { reading { $0.state.withLock { $0.index.totalCost } } }

  /// The statistics since the folder was opened; all zero before.
  public var statistics: DiskStatistics {
    access.store?.state.withLock { $0.index.statistics } ?? DiskStatistics()
  }

  /// A store; once it is open it knows which keys it has.
  public func topology(for key: String?) -> Topology {
    Topology(
      .store, "DiskCache", holds: key.flatMap { access.store?.has($0) },
      size: { [access] in
        access.store?.state.withLock {
          LayerSize(count: $0.index.count, cost: $0.index.totalCost)
        } ?? LayerSize(count: 0, cost: 0)
      },
      flush: { [access] in access.flush($0) }, close: { [access] in access.close() }
    ).counting { [access, options] in
      let statistics =
        access.store?.state.withLock { $0.index.statistics } ?? DiskStatistics()
      return statistics.counters(byteLimit: options.byteLimit)
    }
  }

  private func reading<Value: Sendable>(
    _ value: @escaping @Sendable (DiskStore) -> Value
  ) -> Signal<Value> {
    withOpenStore { store, observer, _ in
      observer.next(value(store))
      observer.completed()
    }
  }
}

extension DiskStatistics {
  /// The counters that an inspector shows.
  fileprivate func counters(byteLimit: Int) -> StoreCounters {
    var counters = StoreCounters()
    (counters.hits, counters.misses) = (hits, misses)
    counters.insertions = insertions
    counters.rejections = rejections
    counters.evictions = evictions
    counters.expirations = expirations
    (counters.costLimit, counters.isInBytes) = (max(0, byteLimit), true)
    return counters
  }
}

extension DiskCache {
  /// The entries on disk, in the order of eviction.
  ///
  /// Entries written meanwhile may be included or not. The walk does not count as a use of any
  /// entry.
  ///
  /// - Complexity: O(*n*), with a read for each entry.
  public var contents: Signal<DiskEntry> {
    walking { store, observer, lifetime in
      try store.visitEntries { entry in
        observer.next(entry)
        return !lifetime.isEnded
      }
    }
  }

  /// Reads all values on disk, removes damaged ones, and reports the numbers of both, with progress
  /// in values.
  ///
  /// - Throws: `CacheError.unavailable(layer:underlying:)` if a file can't be read.
  /// - Complexity: O(bytes on disk). Disposing of the subscription stops it.
  public func verify() -> Signal<DiskReport> {
    walking { store, observer, lifetime in
      observer.next(
        try store.verify(lifetime) { done, total in
          observer.progress(SignalProgress(completed: done, total: total))
        })
    }
  }

  /// Runs a walk through the store, on a thread of its own, after all earlier writes are on disk;
  /// the store is not closed before its end.
  private func walking<Value>(
    _ walk: @escaping @Sendable (DiskStore, Observer<Value>, Lifetime) throws -> Void
  ) -> Signal<Value> {
    withOpenStore { store, observer, lifetime in
      let release = store.reading.hold()
      store.afterWriting {
        SerialQueue(label: "millpond.disk.walking").async {
          defer { release() }
          if lifetime.isEnded { return }
          do {
            try walk(store, observer, lifetime)
            observer.completed()
          } catch {
            observer.failed(CacheError(disk: error, store.folder))
          }
        }
      }
    }
  }
}
