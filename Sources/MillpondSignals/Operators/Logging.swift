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
      onEnd { write("\(name): \(logText(of: $0))") }.run(
        Observer(next: {
          write("\(name): next \($0)")
          observer.next($0)
        }) { event in
          if case .progress(let progress) = event {
            write("\(name): \(logText(of: progress))")
          }
          observer.other(event)
        }, lifetime)
    }
  }
}

/// Returns the words for progress in a line of ``Signal/log(_:_:)``.
@usableFromInline
func logText(of progress: SignalProgress) -> String {
  "progress \(progress.completed)/\(progress.total.map { "\($0)" } ?? "?")"
}

/// Returns the words for the end in a line of ``Signal/log(_:_:)``.
@usableFromInline
func logText(of ending: Ending) -> String {
  switch ending {
  case .completed: "completed"
  case .failed(let error): "failed \(error)"
  case .disposed: "disposed"
  }
}
