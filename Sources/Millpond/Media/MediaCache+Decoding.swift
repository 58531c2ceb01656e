import Dispatch
public import Foundation
public import MillpondCore
public import MillpondSignals

extension MediaCache {
  /// Returns a source of the files' decoded values, to be stored in memory if they are used again.
  ///
  ///     let pictures = MemoryCache<URL, Picture>(costLimit: .mebibytes(64), cost: \.byteCount)
  ///       .layered(over: media.decoding { try Picture($0) })
  ///
  /// For pictures there is an ``ImageCache``.
  ///
  /// A removal also removes the file. A file that can't be decoded is removed. If it was stored before (it may be a captive portal's
  /// page), the get continues as a miss; if it has just arrived, the get fails.
  ///
  /// - Parameter decode: Receives all bytes, in memory rather than mapped, since mapped bytes trap
  ///   when another process truncates the file. Runs on a queue of the system, while the file is
  ///   held. Its error for a file that has just arrived fails the get unchanged.
  public func decoding<Value: Sendable>(
    _ decode: @escaping @Sendable (Data) throws -> Value
  ) -> DecodedMedia<Key, Value> {
    DecodedMedia(files: self) { file, _ in
      try decode(Data(contentsOf: file.url))
    }
  }
}

/// The decoded values of a ``MediaCache``; this source stores none of them.
public struct DecodedMedia<Key: Hashable & Sendable, Value: Sendable>: AnsweringSource {
  let files: MediaCache<Key>
  let decode: @Sendable (DiskFile, Key) throws -> Value

  /// Returns the value, decoded for this get, with the age of its file.
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    decoded(key, lookup)
  }

  /// Returns the value; a file that can't be decoded is removed.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - lookup: The terms of the get.
  ///   - isLast: Whether another such file is a failure, since this is the second try.
  private func decoded(
    _ key: Key, _ lookup: Lookup, isLast: Bool = false
  ) -> Signal<Answer<Value>> {
    .deferred {
      let beginning = Revision.next()
      return files.answers(key, lookup)
        .receive(on: .global(qos: .userInitiated))
        .flatMap { answer in
          switch answer {
          case .value(let stamped): decoded(stamped, key, lookup, beginning, isLast)
          case .stale(let stamped): .just(.tooOld(age: stamped.age))
          case .tooOld(let age): .just(.tooOld(age: age))
          case .undecodable(let error): .just(.undecodable(error))
          case .notModified(let timeToLive): .just(.notModified(timeToLive: timeToLive))
          }
        }
    }
  }

  private func decoded(
    _ stamped: Stamped<DiskFile>, _ key: Key, _ lookup: Lookup, _ beginning: Revision,
    _ isLast: Bool
  ) -> Signal<Answer<Value>> {
    do {
      return .just(.value(try stamped.map { try decode($0, key) }))
    } catch let error as ImageError where error.isLimit {
      return .fail(error)  // the file is as it should be
    } catch {
      let file = stamped.value
      // A file that was set meanwhile is later, and stays.
      _ = files.apply(.remove(key, file.revision ?? beginning))
      if isLast || file.revision != nil { return .fail(error) }
      return lookup.freshness == .cachedOnly
        ? .just(.undecodable(error)) : decoded(key, lookup, isLast: true)
    }
  }

  /// Removes files; a value is not stored here.
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set, .fill: change.ignored
    case .remove(let key, let revision): files.apply(.remove(key, revision))
    case .removeAll(let revision): files.apply(.removeAll(revision))
    case .removeMatching(let predicate, let revision):
      files.apply(.removeMatching(predicate, revision))
    }
  }

  /// The files.
  public func topology(for key: Key?) -> Topology {
    Topology(.wrapper, "decoded", of: files.topology(for: key))
  }
}
