import Dispatch
import Foundation
public import MillpondCore
public import MillpondSignals

extension DiskCache {
  /// Whether there is a value for `key`, as far as that can be said without reading it; it does not
  /// count as asked for.
  public func contains(_ key: String) -> Signal<Bool> { reading { $0.has(key) } }

  /// How many values there are, those included that are still to be written, or whose time is over.
  public var count: Signal<Int> { reading { $0.state.withLock { $0.index.count } } }

  /// How much of the limit they take.
  public var totalBytes: Signal<Int> { reading { $0.state.withLock { $0.index.totalCost } } }

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
      },
      flush: { [access] in access.flush($0) })
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

extension DiskCache {
  /// What is on disk, value by value, those first that would go first to make room.
  ///
  /// What is told meanwhile may be in it or not. Nothing counts as asked for.
  ///
  /// - Complexity: O(*n*), a read each.
  public var contents: Signal<DiskEntry> {
    walking { store, observer, lifetime in
      try store.visitEntries { entry in
        observer.next(entry)
        return !lifetime.isEnded
      }
    }
  }

  /// Reads all that is on disk, drops what is not as it was written, and says how much there was of
  /// both, with progress in values.
  ///
  /// - Throws: ``CacheError/unavailable(layer:underlying:)`` if something can't be read at all.
  /// - Complexity: O(bytes on disk); to dispose of it stops it.
  public func verify() -> Signal<DiskReport> {
    walking { store, observer, lifetime in
      observer.next(
        try store.verify(lifetime) { done, total in
          observer.progress(SignalProgress(completed: done, total: total))
        })
    }
  }

  /// A signal that is fed by a walk through the store, on a thread of its own, after what has been
  /// told is on disk.
  private func walking<Value>(
    _ walk: @escaping @Sendable (DiskStore, Observer<Value>, Lifetime) throws -> Void
  ) -> Signal<Value> {
    asking { store, observer, lifetime in
      store.afterWriting {
        DispatchQueue(label: "millpond.disk.walking").async {
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

/// What a disk cache has for a key, without the value.
public struct DiskEntry: Sendable, Hashable {
  /// The key.
  public let key: String

  /// How many bytes the value has on disk.
  public let byteCount: Int

  /// How long ago the value left its origin, by the calendar.
  public let age: Duration
}

/// What a disk cache was found to hold when all of it was read.
public struct DiskReport: Sendable, Hashable {
  /// Values that are as they were written.
  public var goodValues = 0

  /// Values that are not, and have been dropped.
  public var damagedValues = 0

  /// How many bytes the good values have.
  public var byteCount = 0

  /// None of anything.
  public init() {}
}
