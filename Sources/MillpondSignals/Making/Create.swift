extension Signal {
  /// Makes a signal of code that sends to an observer, from any thread.
  ///
  ///     Signal<Data>.create { observer, lifetime in
  ///       let task = load { observer.next($0); observer.completed() }
  ///       lifetime.onEnd { task.cancel() }
  ///     }
  ///
  /// The observer serialises what several threads send, and lets nothing through after the end. If
  /// everybody lets go of it before the end, it fails with ``SignalError/abandoned(origin:)``.
  ///
  /// - Parameter start: Runs at each subscription; what it throws fails the signal.
  /// - Note: Sending from inside a callback of the same observer is queued until that returns.
  @inlinable
  public static func create(
    file: StaticString = #fileID, line: UInt = #line,
    _ start: @escaping @Sendable (Observer<Value>, Lifetime) throws -> Void
  ) -> Signal {
    Signal { downstream, lifetime in
      let serializer = Serializer(
        downstream, abandonment: Origin.abandonment(of: lifetime, file, line))
      let observer = serializer.observer
      do {
        try start(observer, lifetime)
      } catch {
        observer.failed(error)
      }
    }
  }
}

/// Where in the user's code something was made, in debug builds.
@usableFromInline
enum Origin {
  @inlinable
  static func describe(_ file: StaticString, _ line: UInt) -> String? {
    #if DEBUG
      "\(file):\(line)"
    #else
      nil
    #endif
  }

  /// What to fail with; nil where nobody listens any more.
  ///
  /// In release builds the closure captures the lifetime alone, and so needs no allocation.
  @inlinable
  static func abandonment(
    of lifetime: Lifetime, _ file: StaticString, _ line: UInt
  ) -> @Sendable () -> SignalError? {
    #if DEBUG
      { lifetime.isEnded ? nil : .abandoned(origin: describe(file, line)) }
    #else
      { lifetime.isEnded ? nil : .abandoned(origin: nil) }
    #endif
  }
}
