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

  /// The work for a key asked for what it is itself to bring: it would have waited for ever.
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
