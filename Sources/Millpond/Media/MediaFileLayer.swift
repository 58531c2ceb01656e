import Foundation
import MillpondCore
import MillpondSignals

/// The values of a disk cache, as files.
struct MediaFileLayer<Key: Hashable & Sendable>: Cache, AnsweringSource {
  let disk: DiskCache
  let name: @Sendable (Key) -> String

  func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<DiskFile>> {
    let stale = Signal.deferred { [self] in
      disk.staleFile(for: name(key)).map { presented($0, key).map { Answer.stale($0) } } ?? .empty
    }
    if lookup.freshness == .reload { return stale }
    let fresh = disk.file(for: name(key)) { lookup.admits(age: $0.age) }
    return presented(fresh, key).map { .value($0) }.ifEmpty { stale }
  }

  private func presented(_ files: Signal<DiskFile>, _ key: Key) -> Signal<Stamped<DiskFile>> {
    files.map { [disk, name] in disk.presented($0, for: name(key)).stamped }
  }

  /// Applies a change; a fill is stored already, since a download stores its file first, unless it
  /// gives the file another time to live.
  func apply(_ change: Change<Key, DiskFile>) -> Signal<Void> {
    switch change {
    case .fill(let key, let stamped, let token) where token.isRenewal:
      stamped.value.renew(stamped.timeToLive)
      return disk.renew(name(key), stamped.map { _ in }, token)
    case .fill(let key, let stamped, let token):
      if stamped.timeToLive == stamped.value.timeToLive { return .just(()) }
      return copying(stamped) { disk.apply(.fill(name(key), $0, token)) }
    case .set(let key, let stamped, let revision):
      return copying(stamped) { disk.apply(.set(name(key), $0, revision)) }
    case .remove(let key, let revision):
      return disk.apply(.remove(name(key), revision))
    case .removeAll(let revision):
      return disk.apply(.removeAll(revision))
    case .removeMatching:
      return .fail(
        CacheError.unsupportedRemoval("MediaCache", "since the names of files are not keys"))
    }
  }

  private func copying(
    _ stamped: Stamped<DiskFile>, _ write: (Stamped<Data>) -> Signal<Void>
  ) -> Signal<Void> {
    .attempt { write(try stamped.map { try Data(contentsOf: $0.url) }) }
  }

  func topology(for key: Key?) -> Topology { disk.topology(for: key.map(name)) }
}

/// A source of files that are downloaded into a disk cache.
struct Downloads<Key: Hashable & Sendable>: AnsweringSource {
  let stored: MediaFileLayer<Key>
  let network: HTTPSource<Key>

  func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<DiskFile>> {
    if lookup.freshness == .cachedOnly { return .empty }
    // Its revision is that of the get's beginning, before the disk was asked: every write since then
    // wins, and a caller that asked before such a write gets a file that is not stored.
    return Signal<Stamped<DiskFile>>.deferred {
      download(key, lookup, FillToken(for: lookup, during: nil).revision).map { $0.stamped }
    }
    .answers()
  }

  /// Removes the network's incomplete bodies at a `removeAll`.
  func apply(_ change: Change<Key, DiskFile>) -> Signal<Void> {
    guard case .removeAll(let revision) = change else { return change.ignored }
    return network.apply(.removeAll(revision))
  }

  private func download(
    _ key: Key, _ lookup: Lookup, _ revision: Revision
  ) -> Signal<DiskFile> {
    let limits = DiskLimits(byteLimit: stored.disk.options.byteLimit)
    let store = { @Sendable (strategy: DownloadStrategy?) in
      let download = network.download(
        key, lookup, revision, byteLimit: limits.costLimit, strategy)
      return stored.disk.storing(
        download.parts, for: stored.name(key), revision, download.options)
    }
    return store(nil)
      .recover { $0 is LostResumePoint ? store(.atOnce) : .fail($0) }
      .compactMap { [stored] file in
        file.map { stored.disk.presented($0, for: stored.name(key)) }
      }
  }

  func topology(for key: Key?) -> Topology { network.topology(for: key) }
}

extension DiskFile {
  /// The file with the age of its value.
  var stamped: Stamped<DiskFile> {
    Stamped(self, age: age, validator: validator, timeToLive: timeToLive)
  }
}
