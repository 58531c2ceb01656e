extension Signal {
  /// Runs at most `limit` inner signals at once, in order of their arrival.
  @inlinable
  func merging<NewValue>(
    atMost limit: Int, _ transform: @escaping @Sendable (Value) -> Signal<NewValue>
  ) -> Signal<NewValue> {
    derived { observer, lifetime in
      let merging = Merging(observer, lifetime, limit: limit)
      let outer = merging.lifetime.child()
      run(
        Observer(next: { merging.receive(transform($0)) }) { event in
          switch event {
          case .progress(let progress): merging.outerProgress(progress)
          case .failed(let error): if !outer.isEnded { merging.fail(error) }
          case .completed:
            outer.end()
            merging.outerCompleted()
          }
        }, outer)
    }
  }
}

/// Runs inner signals; `MergingState` decides, this acts.
@usableFromInline
final class Merging<Value: Sendable>: Sendable {
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let serializer: Serializer<Value>
  @usableFromInline let state: Locked<MergingState<Value>>

  @inlinable
  init(_ downstream: Observer<Value>, _ subscriber: Lifetime, limit: Int) {
    lifetime = subscriber.child()
    serializer = Serializer(downstream, subscriber)
    state = Locked(MergingState(limit: limit))
  }

  @inlinable
  func receive(_ inner: Signal<Value>) {
    if state.withLock({ $0.admits(inner) }) { run(inner) }
  }

  /// Runs `inners` and nothing else.
  @inlinable
  func runAll(_ inners: [Signal<Value>]) {
    for inner in inners {
      if lifetime.isEnded { return }
      receive(inner)
    }
    outerCompleted()
  }

  @inlinable
  func outerProgress(_ progress: SignalProgress) {
    if state.withLock({ $0.active == 0 }) { serializer.send(.progress(progress)) }
  }

  @inlinable
  func outerCompleted() {
    if state.withLock({ $0.closes() }) { complete() }
  }

  /// Ending the lifetime makes other runs fail, where they report that they were cancelled: those
  /// failures, of runs whose lifetime is over, must not come first, and are not passed here.
  @inlinable
  func fail(_ error: any Error) {
    lifetime.end()
    serializer.send(.failed(error))
  }

  @inlinable
  func complete() {
    lifetime.end()
    serializer.send(.completed)
  }

  /// Runs an inner signal, and after it what waits, in a loop for as long as they end at once.
  @inlinable
  func run(_ first: Signal<Value>) {
    if let second = runOne(first) { runOn(second) }
  }

  /// Not inlined: merges may be nested, and all that run their first have to fit on the stack.
  @inlinable
  @inline(never)
  func runOn(_ second: Signal<Value>) {
    var next: Signal? = second
    while let inner = next { next = runOne(inner) }
  }

  @inlinable
  func runOne(_ inner: Signal<Value>) -> Signal<Value>? {
    if lifetime.isEnded { return nil }
    if let now = inner.now, let value = now() {
      serializer.send(.next(value))
      return advance(after: nil)
    }
    let run = InnerRun(of: self, in: lifetime)
    let observer = run.observer()
    if observer.canSubscribeInner(run.lifetime) { inner.start?(observer, run.lifetime) }
    return run.isSecond() ? advance(after: run) : nil
  }

  @inlinable
  func ended(_ run: InnerRun<Merging>) {
    run.lifetime.end()
    if run.isSecond(), let next = advance(after: run) { runOn(next) }
  }

  @inlinable
  func innerProgress(_ progress: SignalProgress, of run: InnerRun<Merging>) {
    let sum = state.withLock { $0.sum(adding: progress, of: ObjectIdentifier(run)) }
    serializer.send(.progress(sum))
  }

  @inlinable
  func advance(after run: InnerRun<Merging>?) -> Signal<Value>? {
    switch state.withLock({ $0.advance(after: run.map { ObjectIdentifier($0) }) }) {
    case .run(let next): return next
    case .complete: complete()
    case .wait: break
    }
    return nil
  }
}

extension InnerRun {
  @inlinable
  func observer<Value>() -> Observer<Value> where Whole == Merging<Value> {
    Observer(next: { self.whole.serializer.send(.next($0)) }) { event in
      switch event {
      case .progress(let progress): self.whole.innerProgress(progress, of: self)
      case .failed(let error): if !self.lifetime.isEnded { self.whole.fail(error) }
      case .completed: self.whole.ended(self)
      }
    }
  }
}

/// How many run, and who waits.
@usableFromInline
struct MergingState<Value: Sendable>: Sendable {
  @usableFromInline
  enum Step: Sendable {
    case run(Signal<Value>)
    case complete
    case wait
  }

  @usableFromInline let limit: Int
  @usableFromInline var waiting = Queue<Signal<Value>>()
  @usableFromInline var isClosed = false
  @usableFromInline var progress: [ObjectIdentifier: SignalProgress] = [:]
  @usableFromInline var together = ProgressSum()
  @usableFromInline var active = 0

  @inlinable
  init(limit: Int) {
    self.limit = limit
  }

  /// Whether the inner signal is to be run now; else it waits.
  @inlinable
  mutating func admits(_ inner: Signal<Value>) -> Bool {
    if active < limit {
      active += 1
      return true
    }
    waiting.append(inner)
    return false
  }

  /// Whether the end of the outer signal is the end of all.
  @inlinable
  mutating func closes() -> Bool {
    isClosed = true
    return active == 0
  }

  /// What follows the end of an inner run.
  @inlinable
  mutating func advance(after run: ObjectIdentifier?) -> Step {
    if let run, !progress.isEmpty, let last = progress.removeValue(forKey: run) {
      together.remove(last)
    }
    if let next = waiting.popFirst() { return .run(next) }
    active -= 1
    return isClosed && active == 0 ? .complete : .wait
  }

  /// What the live runs have done together; the total is known if each of them knows its own.
  @inlinable
  mutating func sum(adding new: SignalProgress, of run: ObjectIdentifier) -> SignalProgress {
    if let last = progress.updateValue(new, forKey: run) { together.remove(last) }
    together.add(new)
    let sum = together.progress
    return progress.count == active ? sum : SignalProgress(completed: sum.completed)
  }
}
