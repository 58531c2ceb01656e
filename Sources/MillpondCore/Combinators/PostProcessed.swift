public import MillpondSignals

extension Source {
  /// Answers values processed by `process`, and stores them unprocessed; `postProcess` in Carlos.
  ///
  /// - Parameter process: Runs at every get, on the thread that answers; its errors fail the get
  ///   unchanged. With ``Source/reusingInFlight(maxFlights:clock:)`` over this, it runs once for
  ///   all callers that wait.
  public func postProcessed(
    _ process: @escaping @Sendable (Key, Value) throws -> Value
  ) -> PostProcessed<Self> {
    PostProcessed(base: self, process: .now(process))
  }

  /// Answers values processed by `process` in a task, and stores them unprocessed.
  ///
  /// There are no immediate hits.
  ///
  /// - Parameter process: Its errors fail the get unchanged. Its task is cancelled when no caller
  ///   waits for the answer any more.
  public func postProcessed(
    asynchronously process: @escaping @Sendable (Key, Value) async throws -> Value
  ) -> PostProcessed<Self> {
    PostProcessed(base: self, process: .later(process))
  }
}

/// A source or cache that processes values on their way out.
public struct PostProcessed<Base: Source>: Wrapper, AnsweringSource {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let process: ValueTransform<Key, Value, Value>
  @usableFromInline var title: String { "post-processed" }

  init(base: Base, process: ValueTransform<Key, Value, Value>) {
    self.base = base
    self.process = process
  }

  /// Returns the base's answer, processed; it keeps its age.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    process.changed(base.answers(key, lookup), of: key)
  }

  /// Returns the base's immediate value, processed; `nil` if `process` throws or is asynchronous.
  ///
  /// The get that follows calls `process` again, and fails with its error.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    process.changedNow(of: base, key, lookup)
  }

  /// Writes to the base, without processing.
  ///
  /// A value that its origin has confirmed, or that gets another time to live, was processed on its
  /// way there, so the base keeps the one that it has.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    if case .fill(let key, let stamped, let token) = change, token.isRenewal {
      return renew(key, stamped, token)
    }
    return base.apply(change)
  }

  @usableFromInline
  func renew(_ key: Key, _ confirmed: Stamped<Value>, _ token: FillToken) -> Signal<Void> {
    base.answers(key, Lookup(freshness: .cachedOnly)).compactMap { $0.stamped ?? $0.confirmable }
      .take(1).filter { $0.validator == confirmed.validator }
      .flatMap { own in base.apply(.fill(key, confirmed.map { _ in own.value }, token)) }
      .started()
  }
}

extension PostProcessed: Cache where Base: Cache {}
