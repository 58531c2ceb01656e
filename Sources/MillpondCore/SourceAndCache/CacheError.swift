public import MillpondSignals

/// An error that the framework itself finds in a cache or a get.
///
/// The text of a key has at most 500 characters, and of a URL in it neither user, password, fragment
/// nor the values of the query, which may be secrets. A `layer` is the name given by
/// ``Source/named(_:)``, also around policies.
public enum CacheError: Error, Sendable {
  /// No layer has a value for the key, and none failed.
  ///
  /// Thrown where a value is needed, as by `value`; the signal of a get completes empty instead. It
  /// names no key, since every get that hits would have to keep one for it.
  case miss

  /// The value of the key can't be decoded, and there is no other; `underlying` is the error of the
  /// codec.
  case undecodable(key: String, underlying: any Error)

  /// A layer does not work at present; its values may be available again later.
  case unavailable(layer: String, underlying: any Error)

  /// One of several layers could not store a set value and was told to remove the key instead; the
  /// others keep the value.
  ///
  /// If that removal failed too, the layer may still have the old value.
  case partlyStored(key: String, layer: String, underlying: any Error)

  /// A layer that must keep what it has has no room for a write, which changed nothing.
  ///
  /// With the write, `layer` would take `byteCount` bytes, and its `byteLimit` is `limit`. Remove
  /// something, or create it with a larger one.
  case full(layer: String, byteCount: Int, limit: Int)

  /// Another cache with different settings, or another process, uses the same storage.
  case inUse(layer: String)

  /// The work for a key made a get, reload or refresh of the same key, directly or through others,
  /// and would have waited for itself.
  case circular(key: String)

  /// The condition of a conditioned source does not hold for the key.
  case refused(key: String)

  /// The queue of gets that wait for a limit is full, so the get of the key was not begun.
  ///
  /// `layer` describes what they wait for, and `limit` is their greatest number, the `maxWaiting`
  /// of ``Source/limited(to:reserved:maxWaiting:)`` or
  /// ``Source/rateLimited(to:per:burst:maxWaiting:clock:)``.
  case tooManyWaiting(key: String, layer: String, limit: Int)

  /// The last gets from `layer` failed, so this one was not begun; the next one is made after
  /// `remaining`, see ``Source/circuitBreaking(afterFailures:for:counting:clock:)``; carries the last
  /// of their failures.
  case circuitOpen(layer: String, remaining: Duration, underlying: any Error)

  /// The condition of a conditioned codec does not hold for a value of this type.
  case refusedValue(type: String)

  /// A layer has no way to carry out this write.
  case unsupported(layer: String, write: String)

  /// Some writes of a bulk write failed; the others, out of `count` in all, were carried out.
  case partlyWritten(
    failures: [(key: any Hashable & Sendable, error: any Error)], count: Int)

  /// The name belongs to another member of the ``Repository``.
  case nameTaken(name: String)

  /// The ``CacheScope`` of the get ended before the answer.
  ///
  /// `key` is the key of the get; nil for work without a single key, such as an observation of a
  /// store.
  case scopeEnded(key: String? = nil)

  /// The get would have to fetch, or was fetching, and its source has been shut down by
  /// ``Source/shutDown(deadline:)->_`` or ``Repository/shutDown(deadline:)->_``.
  ///
  /// `key` is the key of the get; nil for a member that is added to such a repository.
  case shutDown(key: String? = nil)

  /// A shutdown ended at its deadline without the steps that are listed, such as "flush of users";
  /// carries the failures of the other steps, as ``stepsFailed(_:)``.
  case unfinished(steps: [String], underlying: (any Error)? = nil)

  /// Steps of a shutdown, or of members of a ``Repository``, failed, such as "flush of users"; all
  /// others were carried out.
  case stepsFailed([(step: String, error: any Error)])

  /// A get with provenance failed; carries what each layer reported, and the failure itself.
  case failed(Provenance, underlying: any Error)
}

extension CacheError {
  /// The error of a single layer that this one reports, as that of a `lookUp`; nil if there is none.
  public var underlying: (any Error)? {
    switch self {
    case .unavailable(_, let error), .undecodable(_, let error), .partlyStored(_, _, let error),
      .circuitOpen(_, _, let error), .failed(_, let error):
      error
    default: nil
    }
  }
}

extension CacheError {
  /// Returns the same failure of a layer with the name that it was given.
  func ofLayer(_ name: String) -> CacheError {
    switch self {
    case .unavailable(_, let underlying): .unavailable(layer: name, underlying: underlying)
    case .circuitOpen(_, let remaining, let underlying):
      .circuitOpen(layer: name, remaining: remaining, underlying: underlying)
    case .unsupported(_, let write): .unsupported(layer: name, write: write)
    default: self
    }
  }
}

extension CacheError {
  /// The failure of a removal by predicate in a layer that can't find its keys.
  ///
  /// - Parameters:
  ///   - layer: The layer.
  ///   - reason: The reason, such as "without an inverse for the keys".
  @usableFromInline
  package static func unsupportedRemoval(_ layer: String, _ reason: String) -> CacheError {
    .unsupported(layer: layer, write: "removeAll(where:) \(reason)")
  }
}

extension CacheError: CustomStringConvertible {
  /// A single line for logs: the key, layer or limit concerned, and what to do; without the secrets
  /// of URLs, also of those in underlying errors.
  public var description: String { sentence.withoutSecrets }

  private var sentence: String {
    switch self {
    case .miss: "no layer has a value for the key"
    case .undecodable(let key, let underlying):
      "the value of the key \(key) can't be decoded: \(underlying)"
    case .unavailable(let layer, let underlying): "the layer \(layer) is unavailable: \(underlying)"
    case .partlyStored(let key, let layer, let underlying):
      "the layer \(layer) could not store the value of the key \(key), and was told to remove "
        + "the key: \(underlying)"
    case .full(let layer, let byteCount, let limit):
      "the layer \(layer) is full: with this write it would take \(byteCount) of \(limit) bytes, and "
        + "nothing may be evicted for it (raise its byteLimit)"
    case .inUse(let layer):
      "the storage of the layer \(layer) is used by another process, or with other settings"
    case .circular(let key): "the get of the key \(key) waits for itself"
    case .refused(let key): "the condition of the source does not hold for the key \(key)"
    case .tooManyWaiting(let key, let layer, let limit):
      "the get of the key \(key) is \(layer), and no more than \(limit) gets may wait for that "
        + "(raise its maxWaiting)"
    case .circuitOpen(let layer, let remaining, let underlying):
      "the last gets from \(layer) failed, so none is made for another \(remaining.brief): "
        + "\(underlying)"
    case .refusedValue(let type):
      "the condition of the codec does not hold for a value of type \(type)"
    case .unsupported(let layer, let write): "the layer \(layer) does not support \(write)"
    case .partlyWritten(let failures, let count): Self.describe(failures, of: count)
    case .nameTaken(let name): "the repository already has a member named \(name)"
    case .scopeEnded(nil): "the scope of the cache has ended"
    case .scopeEnded(let key?): "the scope of the cache ended before the get of the key \(key)"
    case .shutDown(nil): "the repository has been shut down"
    case .shutDown(let key?): "the source has been shut down and does not fetch the key \(key)"
    case .unfinished(let steps, let underlying):
      "the shutdown ended at its deadline without: \(steps.joined(separator: ", ")) (allow more time)"
        + (underlying.map { "; before that: \($0)" } ?? "")
    case .stepsFailed(let failures):
      failures.map { "\($0.step) failed: \($0.error)" }.joined(separator: "; ")
    case .failed(let provenance, let underlying): "the get failed: \(underlying) (\(provenance))"
    }
  }

  /// Names the first few of the failures.
  private static func describe(
    _ failures: [(key: any Hashable & Sendable, error: any Error)], of count: Int
  ) -> String {
    let named = failures.prefix(3).map { "\($0.key): \($0.error)" }
    let more = failures.count - named.count
    return "of \(count) writes \(failures.count) failed: \(named.joined(separator: "; "))"
      + (more > 0 ? "; and \(more) more" : "")
  }
}

extension CacheError: SessionEnding {
  /// Whether a scope has ended, also as the underlying error.
  package var isEndOfSession: Bool {
    if case .scopeEnded = self { true } else { underlying?.endsSession ?? false }
  }
}

extension CacheError: RetryDelaying {
  /// The time until the next attempt, if the error is an open circuit.
  public var retryDelay: Duration? {
    if case .circuitOpen(_, let remaining, _) = self { remaining } else { nil }
  }

  /// Whether another attempt would fail in the same way; an error of a layer asks its underlying
  /// error.
  public var isPermanent: Bool {
    switch self {
    case .miss, .circular, .refused, .undecodable, .refusedValue, .unsupported, .nameTaken,
      .scopeEnded, .shutDown:
      true
    default: (underlying as? any RetryDelaying)?.isPermanent ?? false
    }
  }
}
