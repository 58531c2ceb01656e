extension Signal {
  /// Passes everything on until `trigger` sends a value, and then completes.
  ///
  /// The trigger is subscribed to first: if it has a value at once, this signal is not started. A
  /// trigger that completes without a value changes nothing; one that fails ends everything. Its
  /// progress is not passed on.
  @inlinable
  public func take<Trigger>(until trigger: Signal<Trigger>) -> Signal {
    derived { observer, lifetime in
      let main = lifetime.child()
      let serializer = Serializer(observer, lifetime)
      let end = { @Sendable (event: Event<Value>) in
        main.end()
        serializer.send(event)
      }
      let triggerLifetime = main.child()
      trigger.run(
        Observer(next: { _ in if !main.isEnded { end(.completed) } }) { event in
          if triggerLifetime.isEnded { return }
          switch event {
          case .progress: break
          case .failed(let error): end(.failed(error))
          case .completed: triggerLifetime.end()
          }
        }, triggerLifetime)
      if main.isEnded { return }
      run(serializer.observer.untilEnd(of: main) { serializer.send(.next($0)) }, main)
    }
  }
}
