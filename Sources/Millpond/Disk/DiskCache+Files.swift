public import Foundation
import MillpondCore
public import MillpondSignals

extension DiskCache {
  /// The value as a file, for whoever wants to have it as one: players, mostly.
  ///
  ///     let film = try await cache.file(for: "film").value
  ///     player.play(film.url)
  ///
  /// A large value is in a file already; of a small one, or a sealed one, a copy is made that goes when
  /// it is released. What has just been told is waited for. A miss completes empty. That the file has
  /// the right size is looked at, its content is not: it was whole when it was written.
  ///
  /// - Throws: ``CacheError/unavailable(layer:underlying:)`` if the file can't be opened or made.
  public func file(for key: String) -> Signal<DiskFile> {
    asking { store, observer, lifetime in
      store.file(for: key, lifetime) { result in
        switch result {
        case .failure(let error): observer.failed(error)
        case .success(let file):
          if let file { observer.next(file) }
          observer.completed()
        }
      }
    }
  }

  /// Keeps what `pieces` bring, one after the other, as the value for `key`: they are written to a file
  /// while they arrive, so that it never is in memory as a whole.
  ///
  ///     let bytes = cache.storing(download, for: "film")
  ///
  /// The pieces are asked for when the result is subscribed. The value is stored when they
  /// have completed; until then, and if they fail or are disposed of, what was kept before is. Its place
  /// among all writes is that of the subscription: a later write of the key, or a removal of everything,
  /// wins. Their progress is passed on. A sealed value is gathered in memory, since it is sealed as a whole.
  ///
  /// - Returns: A signal that sends a value and completes when the value is on disk.
  /// - Throws: What the pieces fail with; ``CacheError/unavailable(layer:underlying:)`` if they can't be
  ///   written, with ``DiskError/tooLarge(folder:key:byteCount:limit:)`` if they are more than the cache
  ///   may hold.
  /// - Note: When more than 2 MiB wait for the disk, whoever sends a piece waits too.
  public func storing(_ pieces: Signal<Data>, for key: String) -> Signal<Void> {
    storing(pieces.map { .bytes($0) }, for: key, FileTerms()).map { _ in () }
  }

  /// The same, of parts, which may go on with what was left before.
  ///
  /// - Returns: The file, if one is to be handed out, else nil.
  /// - Throws: ``LostResumePoint`` too.
  func storing(
    _ parts: Signal<FilePart>, for key: String, _ terms: FileTerms
  ) -> Signal<DiskFile?> {
    .deferred {
      // Its place among all writes is that of its beginning.
      var terms = terms
      let revision = terms.revision ?? .next()
      terms.revision = revision
      terms.pending = PendingWrite(revision)
      return self.asking { [terms] store, observer, lifetime in
        let stream = FileStream(store, key: key, terms, observer, lifetime.child())
        parts.run(stream.observer, stream.upstream)
      }
    }
  }
}
