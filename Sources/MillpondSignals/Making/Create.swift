extension Signal {
  /// Makes a signal of code that sends to an observer, from any thread.
  ///
  ///     Signal<Data>.create { observer, lifetime in
  ///       let task = load { observer.next($0); observer.completed() }
  ///       lifetime.onEnd { task.cancel() }
  ///     }
  ///
  /// The observer serialises what several threads send, and lets nothing through after the end, nor
  /// after disposal: a callback API that can't be cancelled may call it whenever it likes. If the
  /// observer is released before the end, the signal fails with ``SignalError/abandoned(origin:)``.
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
        downstream, lifetime, abandonment: .abandoned(origin: Origin.describe(file, line)))
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
}
