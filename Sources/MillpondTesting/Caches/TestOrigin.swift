public import MillpondCore
public import MillpondSignals

/// A source of which every answer is under the test's control, key by key.
///
///     let origin = TestOrigin<String, Int>()
///     let recorder = Recorder<Int>().subscribe(to: origin.reusingInFlight().get("a"))
///     origin["a"].next(1)
///     origin["a"].completed()
///
/// To prove that many asks made one request, hold it back until everyone has asked.
///
/// - Note: Any thread.
public final class TestOrigin<Key: Hashable & Sendable, Value: Sendable>: Source {
  private let sources = Locked<[Key: TestSource<Value>]>([:])

  /// An origin that nobody has asked.
  public init() {}

  /// What answers for `key`.
  public subscript(key: Key) -> TestSource<Value> {
    let new = TestSource<Value>()
    return sources.withLock { sources in
      if let source = sources[key] { return source }
      sources[key] = new
      return new
    }
  }

  /// A run of the key's source.
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    if case .cachedOnly = lookup.freshness { return .empty }
    return .deferred { self[key].signal }
  }
}
