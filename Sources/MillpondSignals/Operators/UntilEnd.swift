extension Observer {
  /// For a run that may be ended before the downstream is: what comes after that is dropped, and
  /// its terminal event ends `run` before it is passed on.
  @inlinable
  func untilEnd<Input>(
    of run: Lifetime, next: @escaping @Sendable (Input) -> Void
  ) -> Observer<Input> {
    Observer<Input>(next: { if !run.isEnded { next($0) } }) { [onOther] event in
      if run.isEnded { return }
      if event.isTerminal { run.end() }
      onOther(event)
    }
  }
}
