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
    withOpenStore { store, observer, lifetime in
      // The store is not closed before the end of the walk.
      let release = store.reading.hold()
      store.afterWriting {
        SerialQueue(label: "millpond.disk.walking").async {
          defer { release() }
          do {
            for entry in store.state.withLock({ $0.index.entries }) {
              if lifetime.isEnded { return }
              if let entry = try store.read(entry) { observer.next(entry) }
            }
            observer.completed()
          } catch {
            observer.failed(CacheError(disk: error, store.folder))
          }
        }
      }
    }
  }
}

extension DiskStore {
  /// Reads the record of a key; nil if it is damaged, or its value has expired or been removed.
  fileprivate func read(_ entry: DiskIndex.Entry) throws -> DiskEntry? {
    var place = entry.location
    while true {
      if let segment = state.withLock({ $0.segments[place.segment] }),
        let bytes = try segment.file.bytes(Int(place.size), at: Int(place.offset))
      {
        defer { withExtendedLifetime(bytes) {} }
        if let record = Record(whole: bytes.bytes, segment: segment.number),
          KeyHash(record.key) == entry.hash
        {
          guard let size = record.valueSize, record.head.expiresAt > options.now() else {
            return nil
          }
          return DiskEntry(
            key: String(decoding: record.key, as: UTF8.self), byteCount: size,
            age: record.head.storedAt.age(at: options.now()))
        }
      }
      // Compaction may have moved it since the walk has begun.
      guard case .location(let present)? = state.withLock({ $0.index.peek(entry.hash) }),
        present.position != place.position
      else { return nil }
      place = present
    }
  }
}
