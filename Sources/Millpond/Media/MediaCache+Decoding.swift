import Dispatch
public import Foundation
public import MillpondCore
public import MillpondSignals

extension MediaCache {
  /// What `decode` makes of the files: to be kept in memory, where it is needed again.
  ///
  ///     let pictures = MemoryCache<URL, Picture>(costLimit: .mebibytes(64), cost: \.byteCount)
  ///       .layered(over: media.decoding { try Picture($0) })
  ///
  /// A file that can't be decoded is removed. If it was stored before, as the page of a captive portal may
  /// be, the get goes on as a miss; if it has just come, the get fails.
  ///
  /// - Parameter decode: Gets all bytes, in memory: what is mapped traps when another process cuts the
  ///   file. Runs on a queue of the system, while the file is held. What it throws for a file that has
  ///   just come fails the get as it was thrown.
  public func decoding<Value: Sendable>(
    _ decode: @escaping @Sendable (Data) throws -> Value
  ) -> DecodedMedia<Key, Value> {
    DecodedMedia(files: self) { file in
      try decode(Data(contentsOf: file.url))
    }
  }
}

/// What is made of the files of a ``MediaCache``; nothing of it is kept.
public struct DecodedMedia<Key: Hashable & Sendable, Value: Sendable>: StampedSource {
  let files: MediaCache<Key>
  let decode: @Sendable (DiskFile) throws -> Value

  /// The value, made anew, as old as its file.
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    decoded(key, lookup)
  }

  /// - Parameter isLast: Whether a stored file that can't be decoded is a failure, as after another one.
  private func decoded(
    _ key: Key, _ lookup: Lookup, isLast: Bool = false
  ) -> Signal<Stamped<Value>> {
    .deferred {
      let beginning = Revision.next()
      return files.get(key, lookup)
        .receive(on: .global(qos: .userInitiated))
        .flatMap { file in
          do {
            return .just(Stamped(try decode(file), age: file.age, validator: file.validator))
          } catch {
            // A file that was set meanwhile is later, and stays.
            _ = files.apply(.remove(key, file.revision ?? beginning))
            if isLast || file.revision != nil { return .fail(error) }
            lookup.explainMiss(.undecodable(error))
            return lookup.freshness == .cachedOnly ? .empty : decoded(key, lookup, isLast: true)
          }
        }
    }
  }

  /// The files.
  public func layout(for key: Key?) -> Layout {
    Layout(.wrapper, "decoded", of: files.layout(for: key))
  }
}
