public import MillpondSignals

// What nearly everybody tries first, with the cure in the compiler's message. None can be called: the
// compiler considers them only where nothing else fits, so they cost correct code nothing.
// `CompilerMessages.md` lists the messages, and a test compares them.

extension Source {
  /// Can't be called: a get is a signal.
  ///
  /// - Parameter key: The key.
  @available(*, unavailable, message: "a get is a signal: await its value, get(key).value")
  public func get(_ key: Key) async throws -> Value { unavailable() }

  /// Can't be called: a source has no layer below it.
  ///
  /// - Parameter lower: The other layer.
  @available(
    *, unavailable,
    message: "the cache comes first, and asks the source below it: cache.layered(over: source)"
  )
  public func layered<Lower: Source>(over lower: Lower) -> AnyCache<Key, Value> { unavailable() }
}

extension Cache {
  /// Can't be called: the keys differ.
  ///
  /// - Parameter lower: The lower layer.
  @available(
    *, unavailable, message: "the lower layer has other keys: give it these with mapKeys(_:)"
  )
  public func layered<Lower: Source>(over lower: Lower) -> AnyCache<Key, Value>
  where Lower.Value == Value { unavailable() }

  /// Can't be called: the values differ.
  ///
  /// - Parameter lower: The lower layer.
  @available(
    *, unavailable,
    message: "the lower layer has other values: give it these with json(_:) or mapValues(_:)"
  )
  public func layered<Lower: Source>(over lower: Lower) -> AnyCache<Key, Value>
  where Lower.Key == Key { unavailable() }

  /// Can't be called: keys and values differ.
  ///
  /// - Parameter lower: The lower layer.
  @available(
    *, unavailable,
    message: "the lower layer has other keys and values: use mapKeys(_:) and mapValues(_:) on it"
  )
  public func layered<Lower: Source>(over lower: Lower) -> AnyCache<Key, Value> { unavailable() }

  /// Can't be called: layers don't know when a value is stale.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - interval: The age at which the value is fetched again.
  ///   - trigger: Fetches the value again whenever it sends.
  @available(
    *, unavailable,
    message: "needs a freshness: source.remembered(in: cache, policy); put wrappers below that"
  )
  public func observe(
    _ key: Key, every interval: Duration? = nil, refreshingOn trigger: Signal<Void> = .never
  ) -> Signal<ResourceState<Value>> { unavailable() }

  /// Can't be called: layers have nothing to refresh.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - file: Tells it from the method of a cache that has one.
  @available(
    *, unavailable,
    message: "needs a freshness: source.remembered(in:_:); or get(key, freshness: .reload)"
  )
  @discardableResult
  public func refresh(_ key: Key, file: StaticString = #fileID) -> Signal<Value> { unavailable() }

  /// Can't be called: layers don't know when a value is stale.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - file: Tells it from the method of a cache that has one.
  @available(
    *, unavailable,
    message: "needs a freshness: source.remembered(in: cache, policy); or remove(key)"
  )
  public func markStale(_ key: Key, file: StaticString = #fileID) { unavailable() }

  /// Can't be called: a time to live may also have no end.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key.
  ///   - timeToLive: The time.
  @available(*, unavailable, message: "a time to live is .minutes(5), .after(duration) or .forever")
  @discardableResult
  public func set(_ value: Value, for key: Key, timeToLive: Duration) -> Signal<Void> {
    unavailable()
  }
}

extension FreshnessPolicy {
  /// Can't be called: a time to live may also have no end.
  ///
  /// - Parameter freshFor: The time.
  @available(*, unavailable, message: "a time to live is .minutes(5), .after(duration) or .forever")
  public init(freshFor: Duration) { unavailable() }
}

extension FunctionSource {
  /// Can't be called: a function that returns a signal has a form of its own.
  ///
  /// - Parameter get: The function.
  @available(
    *, unavailable, message: "a function that returns a signal: FunctionSource.signal { … }"
  )
  public init(_ get: @escaping @Sendable (Key) -> Signal<Value>) { unavailable() }
}

extension MemoryCache {
  /// Can't be used: an entry is a signal.
  ///
  /// - Parameter key: The key.
  @available(
    *, unavailable,
    message: "an entry is a signal: set(value, for: key) stores a value, and now(key) returns it"
  )
  public subscript(key: Key) -> Value? {
    get { unavailable() }
    set { unavailable() }
  }
}

/// Can't be used: a source is erased as a cache is.
@available(*, unavailable, renamed: "AnyCache")
public typealias AnySource<Key: Hashable & Sendable, Value: Sendable> = AnyCache<Key, Value>

private func unavailable() -> Never {
  fatalError("the compiler refuses every use")
}

extension Int {
  /// Can't be called: limits are in powers of two.
  ///
  /// - Parameter count: The count.
  @available(*, unavailable, message: "limits count by powers of two: .mebibytes(50)")
  public static func megabytes(_ count: Int) -> Int { unavailable() }
}
