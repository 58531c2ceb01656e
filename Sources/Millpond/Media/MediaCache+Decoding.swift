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
  /// - Parameter decode: Gets all bytes, in memory: what is mapped traps when somebody cuts the file. Runs on a queue of the
  ///   system, while the file is held. What it throws fails the get as it was thrown.
  public func decoding<Value: Sendable>(
    _ decode: @escaping @Sendable (Data) throws -> Value
  ) -> DecodedMedia<Key, Value> {
    DecodedMedia(files: self) { file in
      try decode(Data(contentsOf: file.url))
    }
  }
}

/// What is made of the files of a ``MediaCache``; nothing of it is kept.
public struct DecodedMedia<Key: Hashable & Sendable, Value: Sendable>: Source {
  let files: MediaCache<Key>
  let decode: @Sendable (DiskFile) throws -> Value

  /// The value, made anew.
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    getStamped(key, lookup).map { $0.value }
  }

  /// The value, made anew, as old as its file.
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    let decode = decode
    return files.get(key, lookup)
      .receive(on: .global(qos: .userInitiated))
      .attemptMap { file in
        Stamped(try decode(file), age: file.age, validator: file.validator)
      }
  }

  /// The files.
  public func layout(for key: Key?) -> Layout {
    Layout(.wrapper, "decoded", of: files.layout(for: key))
  }
}
