public import MillpondSignals

extension Source {
  /// Answers its values processed by `process`, and keeps them as they were.
  ///
  /// - Parameter process: What it throws fails the get as it was thrown. It runs at every get, on the
  ///   thread that answers: put ``Source/reusingInFlight(clock:)`` over this, and it runs once for all
  ///   who wait.
  @inlinable
  public func postProcessed(
    _ process: @escaping @Sendable (Key, Value) throws -> Value
  ) -> PostProcessed<Self> {
    PostProcessed(base: self, process: .now(process))
  }

  /// Answers its values processed by `process` in a task, and keeps them as they were.
  ///
  /// Nothing is there at once.
  ///
  /// - Parameter process: What it throws fails the get as it was thrown. Its task is cancelled when
  ///   nobody waits for the answer any more.
  @inlinable
  public func postProcessed(
    asynchronously process: @escaping @Sendable (Key, Value) async throws -> Value
  ) -> PostProcessed<Self> {
    PostProcessed(base: self, process: .later(process))
  }
}

/// A source or cache whose values are processed on their way out.
public struct PostProcessed<Base: Source>: Wrapper {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline
  enum Process: Sendable {
    case now(@Sendable (Key, Value) throws -> Value)
    case later(@Sendable (Key, Value) async throws -> Value)
  }

  @usableFromInline let base: Base
  @usableFromInline let process: Process
  @usableFromInline var title: String { "post-processed" }

  @inlinable
  init(base: Base, process: Process) {
    self.base = base
    self.process = process
  }

  /// The base's answer, processed.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    switch process {
    case .now(let process): base.get(key, lookup).attemptMap { try process(key, $0) }
    case .later(let process):
      base.get(key, lookup).flatMap { value in .async { try await process(key, value) } }
    }
  }

  /// The base's answer, processed; it keeps its age.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    let stamped = base.getStamped(key, lookup)
    return switch process {
    case .now(let process): stamped.attemptMap { try $0.map { try process(key, $0) } }
    case .later(let process):
      stamped.flatMap { old in
        .async {
          let value = try await process(key, old.value)
          return old.map { _ in value }
        }
      }
    }
  }

  /// What the base has at once, processed at once.
  ///
  /// If that fails, it is tried again by the get that follows, and that fails.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    guard case .now(let process) = process, let value = base.now(key, lookup) else { return nil }
    return try? process(key, value)
  }
}

extension PostProcessed: Cache where Base: Cache {}
