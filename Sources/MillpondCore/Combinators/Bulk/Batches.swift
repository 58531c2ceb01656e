import MillpondSignals

/// The batch that is being gathered, and the calls of those that were.
final class Batches<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let window: Duration
  private let max: Int
  private let timeline: Timeline
  private let makeCall: @Sendable ([Key]) -> Signal<[Key: Value]>
  private let open = Locked<Batch<Key, Value>?>(nil)

  init(
    window: Duration, max: Int, _ timeline: Timeline,
    _ call: @escaping @Sendable ([Key]) -> Signal<[Key: Value]>
  ) {
    self.window = Swift.max(.zero, window)
    self.max = Swift.max(1, max)
    self.timeline = timeline
    makeCall = call
  }

  /// Lets an asker take part in the batch that is being gathered, or begins one.
  ///
  /// One that works for a call of the same key fails with ``CacheError/circular(key:)``.
  func enter(_ key: Key, _ observer: Observer<Value>, _ lifetime: Lifetime) {
    let context = WorkContext.current
    if context?.works(for: key, in: ObjectIdentifier(self)) ?? false {
      return observer.failed(CacheError.circular(key: "\(key)"))
    }
    let asker = BatchAsker(observer.inContext(of: context), lifetime)
    while true {
      let (batch, isNew) = openBatch()
      let entrance = batch.enter(key, asker, max: max)
      if entrance == .closed {
        discard(batch)
        continue
      }
      lifetime.onEnd { self.leave(batch, key, asker) }
      if context?.wait(for: batch, until: lifetime) == false {
        leave(batch, key, asker)
        observer.failed(CacheError.circular(key: "\(key)"))
      }
      if entrance == .full {
        call(batch)
      } else if isNew {
        batch.keep(timer: timeline.schedule(after: window) { self.call(batch) })
      }
      return
    }
  }

  /// The batch that is being gathered; whoever is given a new one sets its timer.
  private func openBatch() -> (batch: Batch<Key, Value>, isNew: Bool) {
    open.withLock { open in
      if let open { return (open, false) }
      let new = Batch<Key, Value>(in: ObjectIdentifier(self), timeline)
      open = new
      return (new, true)
    }
  }

  /// Lets go of a batch that nobody can enter any more.
  private func discard(_ batch: Batch<Key, Value>) {
    open.withLock { open in
      if open === batch { open = nil }
    }
  }

  private func call(_ batch: Batch<Key, Value>) {
    discard(batch)
    let keys = batch.beginCall()
    if keys.isEmpty { return }
    batch.begin()
    batch.lifetime.markAwaited()
    batch.lifetime.onEnd { batch.end() }
    WorkContext.run(in: batch) {
      makeCall(keys).run(
        Observer(next: { batch.receive($0) }, other: { batch.receive($0) }), batch.lifetime)
    }
  }

  private func leave(_ batch: Batch<Key, Value>, _ key: Key, _ asker: BatchAsker<Value>) {
    guard batch.leave(key, asker) else { return }
    discard(batch)
    batch.lifetime.end()
  }
}
