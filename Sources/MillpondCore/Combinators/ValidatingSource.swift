public import MillpondSignals

/// A source made from a function that is told which version of a value its caller has stored.
///
///     let articles = ValidatingSource<Int, Article> { id, known in
///       let answer = try await api.article(id, ifNot: known?.entityTag)
///       guard let article = answer.article else { return .notModified() }
///       return .value(Stamped(article, validator: Validator(entityTag: answer.tag)))
///     }
///     let cached = memory.layered(over: articles)
///
/// A layer above that has stored a value with a validator, which has become too old for a get, asks
/// about it; `known` is nil if there is none. ``FunctionSource`` is for functions that always
/// return a value.
public struct ValidatingSource<Key: Hashable & Sendable, Value: Sendable>: AnsweringSource {
  private let fetch: @Sendable (Key, Validator?) -> Signal<Answer<Value>>

  /// Creates a source that calls an asynchronous function; leaving a get cancels its task.
  ///
  /// - Parameter fetch: Returns the value, or that the known one is still current. Its errors fail
  ///   the get unchanged.
  public init(_ fetch: @escaping @Sendable (Key, Validator?) async throws -> Answer<Value>) {
    self.fetch = { key, known in .async { try await fetch(key, known) } }
  }

  /// Creates a source that answers with a signal; leaving a get disposes of it.
  ///
  /// - Parameter fetch: Returns the answer by the rules of ``Source/get(_:_:)``: an empty signal is
  ///   a miss.
  public init(signal fetch: @escaping @Sendable (Key, Validator?) -> Signal<Answer<Value>>) {
    self.fetch = { key, known in .deferred { fetch(key, known) } }
  }

  /// Returns the answer of the function.
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    fetch(key, lookup.known)
  }
}
