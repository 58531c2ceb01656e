import MillpondCore
public import MillpondSignals

extension EntityStore {
  /// Stores `entity` at once, and keeps it if `request` succeeds: an optimistic write.
  ///
  ///     store.set(book, confirmedBy: api.save(book))
  ///       .subscribe(onFailed: { showAlert($0) })
  ///
  /// Readers and observers see the value at once. The request starts after that.
  /// - If it completes, the value is confirmed.
  /// - If it fails, the write is taken back: what lies below it is visible again.
  /// - An entity is replaced whole: a later write replaces the value in any case, and then the
  ///   outcome changes nothing; of several optimistic writes, the latest is visible, and a confirmed
  ///   one replaces those before it.
  /// - A ``Mergeable`` entity is an edit of the parts that it knows: other writes before and after
  ///   it keep theirs, whatever its outcome. For single fields of other entities, see
  ///   ``edit(_:confirmedBy:_:)``.
  /// - An answer of a source does not hide the write, which is made anew on top of it. Answers to
  ///   requests made before the confirmation are not stored after it.
  ///
  /// Only confirmed values are in an `EntityArchive`: if the process ends before the outcome, the
  /// next start begins without the write. Until the outcome, the entity is not evicted or pruned,
  /// nor is what the values refer to.
  ///
  /// No subscriber that leaves cancels the request, and neither does the release of the store;
  /// limit it, as by `Signal.timeout(_:awaiting:clock:)`, if it might never end. ``end()`` cancels
  /// it, and nothing comes back. Inside a transaction, the request starts after the commit; if the
  /// transaction throws, it does not start.
  ///
  /// Other libraries call this an optimistic update or response, with a rollback.
  ///
  /// - Parameters:
  ///   - entity: The value to store.
  ///   - request: The work that confirms the write by its completion. Its values are ignored,
  ///     except of the type of the entity, see ``set(_:confirmedBy:)-(E,Signal<E>)``.
  /// - Returns: The outcome, once the store shows it: the failure of the request, or a value. It
  ///   can be ignored. It fails with `CacheError.scopeEnded` if the store ends before, and with
  ///   `SignalError.abandoned(origin:)` if the transaction throws.
  @discardableResult
  public func set<E: Entity, Answer>(
    _ entity: E, confirmedBy request: Signal<Answer>
  ) -> Signal<Void> {
    core.writeOptimistically(request) {
      set(entity)
    }
  }

  /// Stores `entity` at once, and replaces it by the answer of `request`, if that succeeds.
  ///
  ///     store.set(draft, confirmedBy: api.create(draft))  // answers with what the server made of it
  ///
  /// The last value before the completion counts. It is set as by ``set(_:)-(E)``, in place of the
  /// optimistic value, unless a later write has replaced that. If the answer has another identity,
  /// such as one assigned by the server, the optimistic entity gives way to it.
  ///
  /// Otherwise the same as ``set(_:confirmedBy:)-(E,Signal<Answer>)``.
  @discardableResult
  public func set<E: Entity>(_ entity: E, confirmedBy request: Signal<E>) -> Signal<Void> {
    core.writeOptimistically(
      request,
      confirm: { [core] revision, answer in
        if let answer { core.confirm(entity.reference, revision, by: answer) }
      }
    ) {
      set(entity)
    }
  }

  /// Edits the stored entity at once, and keeps the edit if `request` succeeds.
  ///
  ///     store.edit(book, confirmedBy: api.rename(book, to: title)) { $0.title = title }
  ///
  /// The edit is made anew whenever what lies below it changes, until the outcome: if an earlier
  /// optimistic write is refused, or a source brings a newer value. So it takes back, or keeps, its
  /// own changes only, whatever becomes of others. An entity that is absent stays so.
  ///
  /// Otherwise the same as ``set(_:confirmedBy:)-(E,Signal<Answer>)``.
  ///
  /// - Parameters:
  ///   - reference: The reference to the entity.
  ///   - request: The request that confirms the edit.
  ///   - change: Changes the value, but not its identity; it must depend on that value alone. Other
  ///     writers wait during the call.
  /// - Complexity: O(*n*) in the optimistic writes of the entity that wait.
  @discardableResult
  public func edit<E, Answer>(
    _ reference: Reference<E>, confirmedBy request: Signal<Answer>,
    _ change: @escaping @Sendable (inout E) -> Void
  ) -> Signal<Void> {
    core.writeOptimistically(request) {
      core.edits(of: E.self).write(reference.id, core.transaction.order, .edit(change))
    }
  }

  /// Removes the entity at once, and for good if `request` succeeds.
  ///
  /// If it fails, the entity comes back, unless a later write has replaced it; see
  /// ``set(_:confirmedBy:)-(E,Signal<Answer>)``.
  ///
  /// - Parameters:
  ///   - reference: The reference to the entity.
  ///   - request: The request that confirms the removal.
  @discardableResult
  public func remove<E, Answer>(
    _ reference: Reference<E>, confirmedBy request: Signal<Answer>
  ) -> Signal<Void> {
    core.writeOptimistically(request) {
      remove(reference)
    }
  }

  /// Commits a transaction at once, and undoes it as a whole if `request` fails.
  ///
  ///     store.update(confirmedBy: api.move(book, to: other)) { library in
  ///       library.set(shelf.without(book))
  ///       library.set(other.with(book))
  ///     }
  ///
  /// Entities that later writes have replaced stay as they are; see
  /// ``set(_:confirmedBy:)-(E,Signal<Answer>)``.
  ///
  /// - Throws: The error of `changes`; then nothing is committed, and the request does not start.
  @discardableResult
  public func update<Answer, Failure>(
    confirmedBy request: Signal<Answer>,
    _ changes: (EntityStore) throws(Failure) -> Void
  ) throws(Failure) -> Signal<Void> {
    try core.writeOptimistically(request) { () throws(Failure) in
      try changes(self)
    }
  }
}
