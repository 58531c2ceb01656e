public import MillpondCore
public import MillpondSignals

/// A source whose answers are under the test's control, key by key.
///
///     let origin = TestOrigin<String, Int>()
///     let recorder = Recorder<Int>().subscribe(to: origin.reusingInFlight().get("a"))
///     origin["a"].next(1)
///     origin["a"].completed()
///
/// To prove that many gets made one request, hold it back until all of them have subscribed.
///
/// - Note: Any thread.
public final class TestOrigin<Key: Hashable & Sendable, Value: Sendable>: Source {
  private let sources = Locked<[Key: TestSource<Value>]>([:])
  private let onStart: @Sendable () -> Void

  /// Creates an origin without runs.
  public init() {
    onStart = {}
  }

  /// Creates an origin that calls `onStart` after each start of a run.
  init(onStart: @escaping @Sendable () -> Void) {
    self.onStart = onStart
  }

  /// The number of runs, for all keys, that have neither ended nor been disposed of.
  ///
  /// - Complexity: O(*n*) in all runs there have been.
  public var activeRuns: Int {
    sources.withLock { Array($0.values) }.reduce(0) { $0 + $1.activeRuns }
  }

  /// The source that answers for `key`.
  public subscript(key: Key) -> TestSource<Value> {
    if let source = sources.withLock({ $0[key] }) { return source }
    let new = TestSource<Value>()
    return sources.withLock { sources in
      if let source = sources[key] { return source }
      sources[key] = new
      return new
    }
  }

  /// Runs the key's source; a cached-only get is a miss.
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    if case .cachedOnly = lookup.freshness { return .empty }
    return Signal { observer, lifetime in
      self[key].signal.run(observer, lifetime)
      self.onStart()
    }
  }
}
