import Foundation
import MillpondCore
import MillpondSignals

/// The values of a disk cache, as files.
struct StoredFiles<Key: Hashable & Sendable>: Cache {
  let disk: DiskCache
  let name: @Sendable (Key) -> String

  func get(_ key: Key, _ lookup: Lookup) -> Signal<DiskFile> {
    if lookup.freshness == .reload { return .empty }
    return disk.file(for: name(key)).filter { file in
      let isFresh = lookup.admits(age: file.age)
      if !isFresh { disk.countMiss() }
      return isFresh
    }
    .map { [disk, name] in disk.presented($0, for: name(key)) }
  }

  func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<DiskFile>> {
    get(key, lookup).map { Stamped($0, age: $0.age, validator: $0.validator) }
  }

  /// Applies a change; a fill is stored already, since a download stores its file first.
  func apply(_ change: Change<Key, DiskFile>) -> Signal<Void> {
    switch change {
    case .fill: return .just(())
    case .set(let key, let file, let revision):
      do {
        let content = try Data(contentsOf: file.url)
        return disk.apply(.set(name(key), content, revision))
      } catch {
        return .fail(error)
      }
    case .remove(let key, let revision):
      return disk.apply(.remove(name(key), revision))
    case .removeAll(let revision):
      return disk.apply(.removeAll(revision))
    }
  }

  func topology(for key: Key?) -> Topology { disk.topology(for: key.map(name)) }
}

/// A source of files that are downloaded into a disk cache.
struct Downloads<Key: Hashable & Sendable>: Source {
  let stored: StoredFiles<Key>
  let network: HTTPSource<Key>

  func get(_ key: Key, _ lookup: Lookup) -> Signal<DiskFile> {
    if lookup.freshness == .cachedOnly { return .empty }
    // Its revision is taken at the beginning: every write meanwhile wins, and a caller that asked
    // before such a write gets a file that is not stored.
    return .deferred { download(key, lookup, .next()) }
  }

  func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<DiskFile>> {
    get(key, lookup).map { Stamped($0, age: $0.age, validator: $0.validator) }
  }

  /// Removes the network's incomplete bodies at a `removeAll`.
  func apply(_ change: Change<Key, DiskFile>) -> Signal<Void> {
    guard case .removeAll(let revision) = change else { return change.isFill ? .empty : .just(()) }
    return network.apply(.removeAll(revision))
  }

  private func download(
    _ key: Key, _ lookup: Lookup, _ revision: Revision
  ) -> Signal<DiskFile> {
    let limits = DiskLimits(byteLimit: stored.disk.options.byteLimit)
    let store = { @Sendable (strategy: DownloadStrategy?) in
      let download = network.download(
        key, lookup, revision, byteLimit: limits.costLimit, strategy)
      return stored.disk.storing(download.parts, for: stored.name(key), download.terms)
    }
    return store(nil)
      .recover { $0 is LostResumePoint ? store(.atOnce) : .fail($0) }
      .compactMap { [stored] file in
        file.map { stored.disk.presented($0, for: stored.name(key)) }
      }
  }

  func topology(for key: Key?) -> Topology { network.topology(for: key) }
}
