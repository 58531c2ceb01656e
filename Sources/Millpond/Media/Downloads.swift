import MillpondCore
import MillpondSignals

/// Files of a disk cache, new from their origin.
struct Downloads<Key: Hashable & Sendable>: Source {
  let stored: StoredFiles<Key>
  let network: HTTPSource<Key>

  func get(_ key: Key, _ lookup: Lookup) -> Signal<DiskFile> {
    if lookup.freshness == .cachedOnly { return .empty }
    let name = stored.name(key)
    return Signal { observer, lifetime in
      let arrival = stored.arrivals.expect(name, until: lifetime)
      stored.disk.storing(network.pieces(of: key, lookup), for: name)
        .ignoreValues(as: DiskFile.self)
        .concat(stored.disk.file(for: name))
        .onNext { _ in
          // Who asked before it was removed still gets it, but it is not kept.
          if arrival.isRevoked { stored.disk.remove(name) }
        }
        .run(observer, lifetime)
    }
  }

  func layout(for key: Key?) -> Layout {
    network.layout(for: key)
  }
}
