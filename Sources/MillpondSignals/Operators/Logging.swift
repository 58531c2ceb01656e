extension Signal {
  /// Logs the subscription, each event before it is passed on, and disposal.
  ///
  /// A tool for debugging:
  ///
  ///     avatar: subscribed
  ///     avatar: progress 512/1024
  ///     avatar: disposed
  ///
  /// - Parameters:
  ///   - name: The beginning of each line.
  ///   - write: Receives each line, on the thread that sends the event; prints it by default.
  @inlinable
  public func log(
    _ name: String, _ write: @escaping @Sendable (String) -> Void = { print($0) }
  ) -> Signal {
    derived { observer, lifetime in
      write("\(name): subscribed")
      onEnd { write("\(name): \(LogLine.describe($0))") }.run(
        Observer(next: {
          write("\(name): next \($0)")
          observer.next($0)
        }) { event in
          if case .progress(let progress) = event {
            write("\(name): \(LogLine.describe(progress))")
          }
          observer.other(event)
        }, lifetime)
    }
  }
}

/// The wording of ``Signal/log(_:_:)``.
@usableFromInline
enum LogLine {
  @usableFromInline
  static func describe(_ progress: SignalProgress) -> String {
    "progress \(progress.completed)/\(progress.total.map { "\($0)" } ?? "?")"
  }

  @usableFromInline
  static func describe(_ ending: Ending) -> String {
    switch ending {
    case .completed: "completed"
    case .failed(let error): "failed \(error)"
    case .disposed: "disposed"
    }
  }
}
