/// What the framework itself finds wrong with a cache or a question to it.
public enum CacheError: Error, Sendable {
  /// No layer has a value for the key, and none failed. Thrown where a value has to be named, as
  /// by `value`; a signal of a cache just completes.
  case miss

  /// A layer can't do its work; what it kept may be there again later.
  case unavailable(layer: String, underlying: any Error)

  /// One of several layers could not keep what was set, and has been told to remove the key; the
  /// others keep it.
  case partlyStored(layer: String, underlying: any Error)

  /// The same storage is in use with other settings, or by another process.
  case inUse(layer: String)

  /// The work for a key asked for that key, by a get, a reload or a refresh, directly or through others:
  /// it would have waited for itself.
  case circular(key: String)

  /// The condition on which a source is asked does not hold for the key.
  case refused(key: String)

  /// Another member of a ``Repository`` has that name.
  case nameTaken(name: String)

  /// The ``CacheScope`` ended, to which the answer belonged.
  case scopeEnded

  /// A question that was looked up failed: what each layer said of it, and the failure itself.
  case failed(Provenance, underlying: any Error)
}

extension CacheError: CustomStringConvertible {
  /// One line, for logs: the key, layer or limit that it is about, and what to do.
  public var description: String {
    switch self {
    case .miss: "no layer has a value for the key"
    case .unavailable(let layer, let underlying): "the layer \(layer) is unavailable: \(underlying)"
    case .partlyStored(let layer, let underlying):
      "the layer \(layer) could not store the value, and removes the key: \(underlying)"
    case .inUse(let layer):
      "the storage of the layer \(layer) is in use with other settings, or by another process"
    case .circular(let key): "the work for the key \(key) waits for itself"
    case .refused(let key): "the condition for a get of the key \(key) does not hold"
    case .nameTaken(let name): "the repository has another member with the name \(name)"
    case .scopeEnded: "the scope of the answer has ended"
    case .failed(let provenance, let underlying): "\(underlying) (\(provenance))"
    }
  }
}
