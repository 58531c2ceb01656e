extension Signal {
  /// Passes on the first `count` values, and completes; the upstream is told to stop.
  ///
  /// - Parameter count: How many; of zero or less the upstream is not even started.
  @inlinable
  public func take(_ count: Int) -> Signal {
    guard count > 0 else { return Signal { observer, _ in observer.completed() } }
    guard let start else { return self }
    return derived(now: now) { observer, lifetime in
      if observer.canSubscribe(lifetime) {
        let taking = Taking(observer, lifetime.child(), count: count)
        start(taking.observer, taking.lifetime)
      }
    }
  }
}

/// Sendable because the upstream calls serially, and nobody else does.
@usableFromInline
final class Taking<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let downstream: Observer<Value>
  @usableFromInline let lifetime: Lifetime
  @exclusivity(unchecked) @usableFromInline var left: Int

  @inlinable
  init(_ downstream: Observer<Value>, _ lifetime: Lifetime, count: Int) {
    self.downstream = downstream
    self.lifetime = lifetime
    left = count
  }

  @inlinable
  var observer: Observer<Value> {
    Observer(next: { self.next($0) }, other: { self.other($0) })
  }

  @inlinable
  func next(_ value: Value) {
    guard left > 0 else { return }
    left -= 1
    let isLast = left == 0
    downstream.next(value)
    guard isLast, !lifetime.isEnded else { return }
    lifetime.end()
    downstream.completed()
  }

  @inlinable
  func other(_ event: Event<Never>) {
    guard left > 0 else { return }
    if event.isTerminal { lifetime.end() }
    downstream.other(event)
  }
}

extension Signal {
  /// Sends the first value that satisfies `isWanted`, and completes; the upstream is told to stop.
  ///
  /// Completes without a value if none does.
  ///
  /// - Parameter isWanted: By default any value will do.
  @inlinable
  public func first(
    where isWanted: @escaping @Sendable (Value) -> Bool = { _ in true }
  ) -> Signal {
    filter(isWanted).take(1)
  }
}

extension Signal {
  /// Passes values on for as long as they satisfy `isIncluded`; the first that doesn't completes.
  ///
  /// That one is not sent, and the upstream is told to stop.
  @inlinable
  public func take(while isIncluded: @escaping @Sendable (Value) -> Bool) -> Signal {
    derived { observer, lifetime in
      let upstream = lifetime.child()
      run(
        observer.untilEnd(of: upstream) { value in
          if isIncluded(value) {
            observer.next(value)
          } else {
            upstream.end()
            observer.completed()
          }
        }, upstream)
    }
  }
}

extension Signal {
  /// Passes everything on until `trigger` sends a value, and then completes.
  ///
  /// The trigger is subscribed to first: if it has a value at once, this signal is not started. A
  /// trigger that completes without a value changes nothing; one that fails ends everything. Its
  /// progress is not passed on.
  @inlinable
  public func take<Trigger>(until trigger: Signal<Trigger>) -> Signal {
    ended { main, end in
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
    }
  }

  /// Passes everything on until it is ended from outside, on any thread: the upstream is told to stop, and
  /// then the end is sent.
  ///
  /// The engine of whatever ends a signal early. The first end counts.
  ///
  /// - Parameter arrange: Arranges for the end, before the signal is started; after an end inside it, the
  ///   signal is not. It gets the lifetime of the run, with which it calls off what it has arranged, and the
  ///   closure that ends the signal.
  @inlinable
  package func ended(
    by arrange: @escaping @Sendable (Lifetime, @escaping @Sendable (Event<Never>) -> Void) -> Void
  ) -> Signal {
    derived { observer, lifetime in
      let main = lifetime.child()
      let serializer = Serializer(observer, lifetime)
      arrange(main) { event in
        main.end()
        serializer.send(event.typed())
      }
      if main.isEnded { return }
      run(serializer.observer.untilEnd(of: main) { serializer.send(.next($0)) }, main)
    }
  }
}

extension Signal {
  /// Drops the first `count` values.
  ///
  /// - Parameter count: How many; of zero or less nothing is dropped.
  @inlinable
  public func skip(_ count: Int) -> Signal {
    guard count > 0 else { return self }
    return derived { observer, lifetime in
      let left = SerialState(count)
      run(
        observer.replacingNext { value in
          if left.value > 0 {
            left.value -= 1
          } else {
            observer.next(value)
          }
        }, lifetime)
    }
  }
}

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
