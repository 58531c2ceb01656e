public import Synchronization

extension Signal {
  /// Passes on the first `count` values, stops the upstream, and completes.
  ///
  /// - Parameter count: The number of values; with zero or less, the upstream is not started.
  @inlinable
  public func take(_ count: Int) -> Signal {
    guard count > 0 else { return Signal { observer, _ in observer.completed() } }
    guard let start else { return self }
    return derived(now: now) { observer, lifetime in
      let taking = Taking(observer, lifetime.child(), count: count)
      start(taking.observer, taking.lifetime)
    }
  }
}

/// The state of `take(_:)`.
@usableFromInline
@_fixed_layout
final class Taking<Value: Sendable>: Sendable {
  @usableFromInline let downstream: Observer<Value>
  @usableFromInline let lifetime: Lifetime

  /// Changed only by the upstream, which calls serially.
  @usableFromInline let left: AtomicValue<Int>

  @inlinable
  init(_ downstream: Observer<Value>, _ lifetime: Lifetime, count: Int) {
    self.downstream = downstream
    self.lifetime = lifetime
    left = AtomicValue(count)
  }

  @inlinable
  var observer: Observer<Value> {
    Observer(next: { self.next($0) }, other: { self.other($0) })
  }

  @inlinable
  func next(_ value: Value) {
    let left = left.load(ordering: .relaxed)
    guard left > 0 else { return }
    self.left.store(left - 1, ordering: .relaxed)
    downstream.next(value)
    guard left == 1, !lifetime.isEnded else { return }
    lifetime.end()
    downstream.completed()
  }

  @inlinable
  func other(_ event: Event<Never>) {
    guard left.load(ordering: .relaxed) > 0 else { return }
    if event.isTerminal { lifetime.end() }
    downstream.other(event)
  }
}

extension Signal {
  /// Sends the first value that satisfies `isWanted`, stops the upstream, and completes.
  ///
  /// Completes without a value if none does.
  ///
  /// - Parameter isWanted: Satisfied by any value by default.
  @inlinable
  public func first(
    where isWanted: @escaping @Sendable (Value) -> Bool = { _ in true }
  ) -> Signal {
    filter(isWanted).take(1)
  }
}

extension Signal {
  /// Passes values on while they satisfy `isIncluded`, and completes at the first that does not.
  ///
  /// That value is not sent, and the upstream is stopped.
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

  /// Passes everything on until it is ended from outside, on any thread.
  ///
  /// An end stops the upstream and is then sent; the first one counts. The engine of all operators
  /// that end a signal early.
  ///
  /// - Parameter arrange: Arranges for the end before the signal starts; an end inside it prevents
  ///   the start. It receives the lifetime of the run, for the cleanup of the arrangement, and the
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

extension Observer {
  /// Returns an observer for a run that may end before its downstream does.
  ///
  /// It drops events after the end of `run`, and ends `run` before it passes on the terminal event.
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
