public import MillpondSignals

/// A source made from a function; in Carlos a `BasicFetcher`.
///
///     memory.layered(over: FunctionSource { id in try await api.user(id) })
///     memory.layered(over: FunctionSource.signal { id in api.user(id).retry(2) })
///     memory.layered(over: FunctionSource.callback { id, answer in api.load(id, answer) })
///     memory.layered(over: FunctionSource.sync { name in try parse(name) })
///
/// The form without a name is that of an asynchronous function. Each form also exists with the
/// ``Lookup`` as a second parameter of the function. ``validating(timeLimit:_:)`` is for functions
/// that can tell that a stored value is still current. The function is called anew for each
/// subscription, and never before one.
///
/// An asynchronous function, and one with a completion handler, has a minute to answer. After that
/// the get fails with `SignalError.timedOut(after:key:)`, and the task is cancelled, so that a mute
/// backend holds neither callers nor limits. The parameter `timeLimit` is another time, or nil. A
/// signal has no limit: it can bring its own, see `Signal.timeout(_:awaiting:clock:)`.
@frozen
public struct FunctionSource<Key: Hashable & Sendable, Value: Sendable>: Source {
  @usableFromInline let fetch: Fetch

  /// The time in which the function has to answer.
  @usableFromInline let limit: AnswerLimit

  /// A function of values, or of answers about the version that the caller has stored.
  @usableFromInline
  enum Fetch: Sendable {
    case values(@Sendable (Key, Lookup) -> Signal<Value>)
    case answers(@Sendable (Key, Validator?) -> Signal<Answer<Value>>)
  }

  @inlinable
  init(
    within timeLimit: Duration? = nil,
    fetching fetch: @escaping @Sendable (Key, Lookup) -> Signal<Value>
  ) {
    self.fetch = .values(fetch)
    limit = AnswerLimit(timeLimit)
  }

  init(
    within timeLimit: Duration? = nil,
    answering fetch: @escaping @Sendable (Key, Validator?) -> Signal<Answer<Value>>
  ) {
    self.fetch = .answers(fetch)
    limit = AnswerLimit(timeLimit)
  }

  /// Returns the values of the function.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    switch fetch {
    case .values(let fetch): limit.applied(to: fetch(key, lookup), key)
    case .answers(let fetch): limit.applied(to: fetch(key, lookup.known), key).values()
    }
  }

  /// Returns the answer of the function; a function of values knows no ages.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    switch fetch {
    case .values(let fetch):
      limit.applied(to: fetch(key, lookup), key).map { .value(Stamped($0)) }
    case .answers(let fetch): limit.applied(to: fetch(key, lookup.known), key)
    }
  }
}

// MARK: Signals

extension FunctionSource {
  /// Returns a source that answers with a signal; leaving a get disposes of it.
  ///
  /// - Parameter get: Returns the answer by the rules of ``Source/get(_:_:)``: an empty signal is a
  ///   miss.
  @inlinable
  public static func signal(
    _ get: @escaping @Sendable (Key) -> Signal<Value>
  ) -> FunctionSource {
    FunctionSource(fetching: { key, _ in .deferred { get(key) } })
  }

  /// Returns a source that answers with a signal, made by the terms of the get.
  ///
  /// - Parameter get: Returns the answer by the rules of ``Source/get(_:_:)``.
  @inlinable
  public static func signal(
    _ get: @escaping @Sendable (Key, Lookup) -> Signal<Value>
  ) -> FunctionSource {
    FunctionSource(fetching: { key, lookup in .deferred { get(key, lookup) } })
  }
}

// MARK: Asynchronous functions

extension FunctionSource {
  /// Creates a source that calls an asynchronous function; leaving a get cancels its task.
  ///
  /// - Parameters:
  ///   - timeLimit: The time for an answer; nil for no limit.
  ///   - get: Returns the value. Its errors fail the get unchanged.
  @inlinable
  public init(
    timeLimit: Duration? = .minutes(1), _ get: @escaping @Sendable (Key) async throws -> Value
  ) {
    self.init(within: timeLimit, fetching: { key, _ in .async { try await get(key) } })
  }

  /// Creates a source that calls an asynchronous function with the terms of the get.
  ///
  /// - Parameters:
  ///   - timeLimit: The time for an answer; nil for no limit.
  ///   - get: Returns the value. Its errors fail the get unchanged.
  @inlinable
  public init(
    timeLimit: Duration? = .minutes(1),
    _ get: @escaping @Sendable (Key, Lookup) async throws -> Value
  ) {
    self.init(
      within: timeLimit, fetching: { key, lookup in .async { try await get(key, lookup) } })
  }
}

// MARK: Functions that know versions

extension FunctionSource {
  /// Returns a source that calls an asynchronous function that is told which version of a value its
  /// caller has stored; leaving a get cancels its task.
  ///
  ///     let articles = FunctionSource<Int, Article>.validating { id, known in
  ///       let answer = try await api.article(id, ifNot: known?.entityTag)
  ///       guard let article = answer.article else { return .notModified() }
  ///       return .value(Stamped(article, validator: Validator(entityTag: answer.tag)))
  ///     }
  ///     let cached = memory.layered(over: articles)
  ///
  /// A layer above that has stored a value with a validator, which has become too old for a get,
  /// asks about it; the second parameter is nil if there is none.
  ///
  /// - Parameters:
  ///   - timeLimit: The time for an answer; nil for no limit.
  ///   - fetch: Returns the value, or that the known one is still current. Its errors fail the get
  ///     unchanged.
  public static func validating(
    timeLimit: Duration? = .minutes(1),
    _ fetch: @escaping @Sendable (Key, Validator?) async throws -> Answer<Value>
  ) -> FunctionSource {
    FunctionSource(
      within: timeLimit, answering: { key, known in .async { try await fetch(key, known) } })
  }

  /// Returns a source that answers with a signal, by the version that its caller has stored; leaving
  /// a get disposes of it.
  ///
  /// - Parameter fetch: Returns the answer by the rules of ``Source/get(_:_:)``: an empty signal is
  ///   a miss.
  public static func validating(
    signal fetch: @escaping @Sendable (Key, Validator?) -> Signal<Answer<Value>>
  ) -> FunctionSource {
    FunctionSource(answering: { key, known in .deferred { fetch(key, known) } })
  }
}

// MARK: Synchronous functions

extension FunctionSource {
  /// Returns a source that calls a function on the thread of the get.
  ///
  /// The answer arrives inside `subscribe`. For a function that returns a `Result`, end the closure
  /// with `.get()`.
  ///
  /// - Parameter get: Returns the value. Its errors fail the get unchanged.
  @inlinable
  public static func sync(
    _ get: @escaping @Sendable (Key) throws -> Value
  ) -> FunctionSource {
    .sync { key, _ in try get(key) }
  }

  /// Returns a source that calls a function with the terms of the get, on the thread of the get.
  ///
  /// - Parameter get: Returns the value. Its errors fail the get unchanged.
  @inlinable
  public static func sync(
    _ get: @escaping @Sendable (Key, Lookup) throws -> Value
  ) -> FunctionSource {
    FunctionSource(fetching: { key, lookup in
      .deferred { .attempt { .just(try get(key, lookup)) } }
    })
  }
}

// MARK: Callbacks

extension FunctionSource {
  /// Returns a source that calls a function with a completion handler.
  ///
  /// The handler's first call counts, from any thread; later calls are ignored, as are all calls
  /// after the get was left. If the function releases the handler without calling it, the get fails
  /// with `SignalError.abandoned`. What the function started is not cancelled when a get is left;
  /// where it can be, use ``signal(_:)-((Key)->Signal<Value>)`` with `Signal.create(file:line:_:)`:
  ///
  ///     FunctionSource<URL, Data>.signal { url in
  ///       .create { observer, lifetime in
  ///         let task = api.load(url) { observer.next($0); observer.completed() }
  ///         lifetime.onEnd { task.cancel() }
  ///       }
  ///     }
  ///
  /// - Parameters:
  ///   - timeLimit: The time for an answer; nil for no limit.
  ///   - file: The file to name if the handler is abandoned.
  ///   - line: The line to name.
  ///   - get: Starts the work, and passes the result to its last parameter.
  public static func callback(
    timeLimit: Duration? = .minutes(1), file: StaticString = #fileID, line: UInt = #line,
    _ get:
      @escaping @Sendable (Key, @escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
  ) -> FunctionSource {
    .callback(timeLimit: timeLimit, file: file, line: line) { key, _, answer in get(key, answer) }
  }

  /// Returns a source that calls a function with the terms of the get and a completion handler.
  ///
  /// - Parameters:
  ///   - timeLimit: The time for an answer; nil for no limit.
  ///   - file: The file to name if the handler is abandoned.
  ///   - line: The line to name.
  ///   - get: Starts the work, and passes the result to its last parameter; its first call counts.
  public static func callback(
    timeLimit: Duration? = .minutes(1), file: StaticString = #fileID, line: UInt = #line,
    _ get:
      @escaping @Sendable (
        Key, Lookup, @escaping @Sendable (Result<Value, any Error>) -> Void
      ) -> Void
  ) -> FunctionSource {
    FunctionSource(
      within: timeLimit,
      fetching: { key, lookup in
        .create(file: file, line: line) { observer, _ in
          get(key, lookup) { result in
            switch result {
            case .success(let value):
              observer.next(value)
              observer.completed()
            case .failure(let error): observer.failed(error)
            }
          }
        }
        // A call on another thread may send a second value before the end of the first call.
        .take(1)
      })
  }
}
