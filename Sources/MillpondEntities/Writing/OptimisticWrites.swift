public import MillpondCore
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
    confirm: @escaping @Sendable (Revision, Answer?) -> Void = { _, _ in },
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
      let session = tables.withLock { $0.observers.session }
      let request = request.ended(with: session, .failed(CacheError.scopeEnded()))
      transaction.requests.append(
        Notice { self.start(request, revision, confirm, outcome) })
    }
    return repeated
  }

  /// Runs a request, and settles its write before the outcome is sent.
  private func start<Answer>(
    _ request: Signal<Answer>, _ revision: Revision,
    _ confirm: @escaping @Sendable (Revision, Answer?) -> Void, _ outcome: PublishSubject<Void>
  ) {
    let latest = SerialState<Answer?>(nil)
    request.subscribe(
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
    let settle: @Sendable () -> Void = {
      self.inTurn {
        first()
        for table in self.tables.withLock({ $0.tables }) {
          table.settle(self, revision, isConfirmed)
        }
      }
      then()
    }
    // Not as a part of the running transaction, which might throw.
    if turn.isMine() { afterDelivery(settle) } else { settle() }
  }

  /// Confirms or undoes an optimistic write of entities of a type, as far as no later write has
  /// replaced it.
  @usableFromInline
  func settle<E: Entity>(_ type: E.Type, _ revision: Revision, isConfirmed: Bool) {
    let ids = tables.withLock { $0.table(type).optimisticWrites.removeValue(forKey: revision) }
    for id in ids ?? [] {
      if isConfirmed {
        edits(of: type).confirm(id, revision)
      } else {
        _ = edits(of: type).refuse(id, revision)
      }
    }
  }

  /// Stores an answer in place of the value of an optimistic write, unless that was replaced.
  func confirm<E>(_ reference: Reference<E>, _ revision: Revision, by answer: E) {
    let edits = edits(of: E.self)
    if answer.id == reference.id {
      edits.confirm(answer.id, revision, by: answer)
    } else if edits.refuse(reference.id, revision) {
      edits.write(answer.id, .now, .set(answer))
    }
  }
}
