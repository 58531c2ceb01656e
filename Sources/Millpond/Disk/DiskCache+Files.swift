public import Foundation
import MillpondCore
public import MillpondSignals

extension DiskCache {
  /// Returns the value as a file, for example for a player.
  ///
  ///     let film = try await cache.file(for: "film").value
  ///     player.play(film.url)
  ///
  /// A large value is in a file already; a small or sealed one is copied to a file that is removed
  /// when it is released. Pending writes of the key are waited for. A miss completes empty. The
  /// size of the file is checked but not its content, which was complete when it was written.
  ///
  /// - Parameter key: The key of the value.
  /// - Throws: `CacheError.unavailable(layer:underlying:)` if the file can't be opened or made.
  public func file(for key: String) -> Signal<DiskFile> { file(for: key, where: { _ in true }) }

  /// Does the same if the caller can use the file; otherwise it is a miss.
  func file(
    for key: String, where isUsable: @escaping @Sendable (DiskFile) -> Bool
  ) -> Signal<DiskFile> {
    withOpenStore { store, observer, lifetime in
      store.file(for: key.canonicalText, lifetime) { result in
        switch result {
        case .failure(let error): observer.failed(error)
        case .success(let found):
          let file = found.flatMap { isUsable($0) ? $0 : nil }
          store.count(isHit: file != nil)
          if let file { observer.next(file) }
          observer.completed()
        }
      }
    }
  }

  /// Stores `pieces` as the value for `key`, writing them to a file as they arrive, so that the
  /// value is never in memory as a whole.
  ///
  ///     let bytes = cache.storing(download, for: "film")
  ///
  /// The pieces are subscribed to when the result is. The value is stored when they have completed;
  /// until then, and if they fail or are disposed of, the former value stays. The position in the
  /// order of all writes is that of the subscription: a later write of the key, or a later removal
  /// of everything, wins. The progress of the pieces is passed on. A sealed value is collected in
  /// memory, since it is sealed as a whole.
  ///
  /// - Parameters:
  ///   - pieces: The bytes of the value.
  ///   - key: The key of the value.
  /// - Returns: A signal that sends a value and completes when the value is on disk.
  /// - Throws: The error of the pieces; `CacheError.unavailable(layer:underlying:)` if they can't
  ///   be written, with ``DiskError/tooLarge(folder:key:byteCount:limit:)`` if they exceed the
  ///   cache's limit.
  /// - Note: While more than 2 MiB wait for the disk, the sender of a piece waits too.
  public func storing(_ pieces: Signal<Data>, for key: String) -> Signal<Void> {
    // The revision is that of the subscription.
    .deferred {
      self.storing(pieces.map { .bytes($0) }, for: key, .next(), FileStreamOptions())
        .map { _ in () }
    }
  }

  /// Does the same with parts, which may continue an earlier file.
  ///
  /// - Parameters:
  ///   - parts: The parts of the value.
  ///   - key: The key of the value.
  ///   - revision: The revision of the value; if its key is written later, it is not stored.
  ///   - options: The options of its storage.
  /// - Returns: The file if one is to be handed out, otherwise nil.
  /// - Throws: ``LostResumePoint`` too.
  func storing(
    _ parts: Signal<FileStreamPart>, for key: String, _ revision: Revision,
    _ options: FileStreamOptions
  ) -> Signal<DiskFile?> {
    .deferred {
      // Pending from now on: another cache of the folder may have an open store already.
      let (pending, timeToLive) = (PendingWrite(revision), self.timeToLive)
      return self.withOpenStore { store, observer, lifetime in
        let stream = FileStream(
          store, key: key.canonicalText, pending, timeToLive, options, observer, lifetime.child())
        parts.run(stream.observer, stream.upstream)
      }
    }
  }
}
