import MillpondCore
import MillpondSignals

extension EntityCore {
  /// Commits the writes of `body` as optimistic ones, and starts the request that confirms them.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - confirm: Stores the last value of the request, in the transaction that confirms.
  ///   - body: Makes the writes.
  /// - Returns: The outcome.
  func writeOptimistically<Answer, Failure>(
    _ request: Signal<Answer>,
    confirm: @escaping @Sendable (Revision, Answer?) -> Void,
    _ body: () throws(Failure) -> Void
  ) throws(Failure) -> Signal<Void> {
    let outcome = PublishSubject<Void>()
    // Repeated for later subscribers; runs on without any.
    let repeated = outcome.signal.started()
    try write { () throws(Failure) in
      let revision = Revision.next()
      let outer = transaction.optimistic
      transaction.optimistic = revision
      defer { transaction.optimistic = outer }
      try body()
      transaction.requests.append {
        self.start(request, revision, confirm, outcome)
      }
    }
    return repeated
  }

  /// Runs a request, and settles its write before the outcome is sent.
  private func start<Answer>(
    _ request: Signal<Answer>, _ revision: Revision,
    _ confirm: @escaping @Sendable (Revision, Answer?) -> Void, _ outcome: PublishSubject<Void>
  ) {
    let latest = SerialState<Answer?>(nil)
    untilEnd(request, revision).subscribe(
      onProgress: { outcome.progress($0) },
      onNext: { latest.value = $0 },
      onFailed: { error in
        self.settle(revision, isConfirmed: false) {
        } then: {
          outcome.failed(error)
        }
      },
      onCompleted: {
        self.settle(revision, isConfirmed: true) {
          confirm(revision, latest.value)
        } then: {
          outcome.next(())
          outcome.completed()
        }
      })
  }

  /// Returns a request that fails when the store ends.
  private func untilEnd<Answer>(_ request: Signal<Answer>, _ revision: Revision) -> Signal<Answer> {
    request.ended { run, end in
      let hasEnded = self.withLock { _, observers in
        if observers.endedAt > revision { return true }
        observers.requests[revision] = { end(.failed(CacheError.scopeEnded())) }
        return false
      }
      if hasEnded { return end(.failed(CacheError.scopeEnded())) }
      run.onEnd {
        self.discard { $1.requests.removeValue(forKey: revision) }
      }
    }
  }

  /// Fails the requests of writes before the end of the store.
  func endRequests() {
    let ended = withLock { _, observers in
      let ended = observers.requests.filter { $0.key < observers.endedAt }
      for revision in ended.keys { observers.requests[revision] = nil }
      return ended
    }
    for end in ended.sorted(by: { $0.key < $1.key }) { end.value() }
  }

  /// Confirms or undoes an optimistic write in a transaction of its own.
  ///
  /// - Parameters:
  ///   - revision: The revision of the write.
  ///   - isConfirmed: Whether it is confirmed.
  ///   - first: Runs at the beginning of the transaction.
  ///   - then: Runs after the commit and its notices.
  private func settle(
    _ revision: Revision, isConfirmed: Bool, first: @escaping @Sendable () -> Void,
    then: @escaping @Sendable () -> Void
  ) {
    let settle: Notice = {
      self.inTurn {
        first()
        for part in self.transaction.parts {
          part.settle(revision, isConfirmed) { self.transaction.touch(part) }
        }
      }
      then()
    }
    // Not as a part of the running transaction, which might throw.
    if turn.isMine() { afterDelivery(settle) } else { settle() }
  }

  /// Changes an entity as a part of the optimistic write that is being made.
  func change<E>(_ reference: Reference<E>, _ change: @escaping @Sendable (inout E) -> Void) {
    let order = transaction.order
    write(E.self) { $0.change(reference.id, order, canUndo: $1, change) }
  }

  /// Stores an answer in place of the value of an optimistic write, unless that was replaced.
  func confirm<E>(_ reference: Reference<E>, _ revision: Revision, by answer: E) {
    write(E.self) { edits, canUndo in
      if answer.id == reference.id {
        edits.confirm(answer.id, revision, by: answer)
      } else if edits.undo(reference.id, revision) {
        edits.set(answer, .now, canUndo: canUndo)
      }
    }
  }
}
