public import MillpondCore
public import MillpondSignals

/// The work of a store, which those who observe it keep; the store itself they don't.
///
/// Two gates. Who writes has the *turn*, from the first line of a transaction to its commit; users'
/// code runs meanwhile, so nobody waits for it but other writers. What is stored is under a *lock*,
/// which is taken within the turn, and outside of it to read and to observe, each time for a moment.
/// A commit is one step under the lock: it leaves behind the notices of that commit, and one thread at
/// a time, without turn or lock, carries those out in order.
@usableFromInline
final class EntityCore: @unchecked Sendable {
  // Sendable because its variables are touched only by whoever has the turn.
  @usableFromInline let turn = WriterTurn()
  @usableFromInline var draft = EntityDraft()

  /// An empty array with room, for whom a value refers to.
  @exclusivity(unchecked) @usableFromInline var spareTargets: [NodeNumber] = []
  @usableFromInline let shelves = Locked(EntityShelves())
  @usableFromInline let time: CoarseTime
  @usableFromInline let countLimit: Int

  @usableFromInline
  init(countLimit: Int, _ time: CoarseTime) {
    self.countLimit = countLimit
    self.time = time
  }

  // MARK: Reading

  /// What is stored now; for the writer, what it has written.
  @inlinable
  func get<E>(_ reference: Reference<E>) -> E? {
    if turn.isMine(), let edit = draft.edit(of: reference.id, E.self) { return edit.value }
    let now = time.now()
    return shelves.withLock { shelves in
      guard let table = shelves.table(E.self), let row = table.row(of: reference.id) else {
        return nil
      }
      table.rows[Int(row)].touched = now
      return table.rows[Int(row)].value
    }
  }

  @usableFromInline
  var count: Int {
    shelves.withLock { $0.storedCount }
  }

  /// What is committed under these identities.
  @inlinable
  func stored<E>(_ ids: [E.ID], in table: EntityTable<E>) -> [E?] {
    shelves.withLock { _ in
      ids.map { table.find($0).value }
    }
  }

  @inlinable
  func table<E: Entity>(_: E.Type) -> EntityTable<E> {
    if let table = shelves.withLock({ $0.table(E.self) }) { return table }
    let relations = E.relations
    return shelves.withLock { shelves in
      shelves.table { EntityTable(number: $0, relations: relations) }
    }
  }

  // MARK: Writing

  /// Runs a transaction, or a part of the one that runs on this thread.
  @inlinable
  func write<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    if turn.isMine() { return try join(body) }
    let (outcome, released) = turn.take {
      let outcome = attempt(body)
      var released = Remains()
      if case .failure = outcome { discard(&released) }
      commit(&released)
      return (outcome, released)
    }
    _ = released  // released here, when others may write again
    deliver()
    return try outcome.get()
  }

  @inlinable
  func remove<E>(_ reference: Reference<E>) {
    inTurn { write(DraftEdit<E>(id: reference.id, value: nil, place: .now)) }
  }

  @inlinable
  func removeAll<E: Entity>(of type: E.Type) {
    inTurn {
      let table = table(type)
      let stored = shelves.withLock { _ in table.storedIDs() }
      for id in stored { write(DraftEdit<E>(id: id, value: nil, place: .now)) }
      draft.part(adding: type).clear(canUndo: draft.depth > 0)
    }
  }

  /// Writes into the draft, which is not being accessed when what was there is released.
  @inlinable
  func write<E>(_ edit: DraftEdit<E>) {
    draft.part(adding: E.self).write(edit, canUndo: draft.depth > 0)
  }

  /// - Parameter isSilent: Whether observers and queries are not told.
  @usableFromInline
  func removeAll(isSilent: Bool = false) {
    inTurn {
      draft.clearAll(isSilent: isSilent)
      // Of a type that the store does not have yet, there is only what this transaction has set.
      let (parts, canUndo) = (draft.parts, draft.depth > 0)
      for part in parts { part.clear(canUndo) }
      for table in shelves.withLock({ $0.tables }) { table.removeAll(from: self) }
    }
  }

  /// Prunes at once, or when the transaction is over.
  @usableFromInline
  func prune(unusedFor age: Duration) {
    inTurn { draft.pruning = min(age, draft.pruning ?? age) }
  }

  /// Runs `body`, which is a transaction unless it is within one.
  @usableFromInline
  func inTurn(_ body: () -> Void) {
    if turn.isMine() { body() } else { write(body) }
  }

  @inlinable
  func join<Result, Failure>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    draft.depth += 1
    let savepoint = draft.savepoint
    let outcome = attempt(body)
    let gone: [any Sendable] =
      if case .failure = outcome { draft.rollBack(to: savepoint) } else { [] }
    draft.depth -= 1
    _ = gone  // released here: what users' objects write at their end is not undone
    return try outcome.get()
  }

  @inlinable
  func attempt<Result, Failure>(
    _ body: () throws(Failure) -> Result
  ) -> Swift.Result<Result, Failure> {
    do throws(Failure) {
      return .success(try body())
    } catch {
      return .failure(error)
    }
  }

  @usableFromInline
  func discard(_ released: inout Remains) {
    released.drafts.append(draft)
    draft = EntityDraft()
  }

  /// Commits what was written, and what users' code has written while that was compared.
  ///
  /// - Parameter released: Gets what is to be released when the turn is over.
  @usableFromInline
  func commit(_ released: inout Remains) {
    while !draft.isEmpty {
      let written = draft
      draft = EntityDraft()
      released.drafts.append(written)
      for part in written.parts { part.prepare(self) }
      let now = time.now()
      released.values += shelves.withLock { shelves in
        var commit = Commit(now: now, isSilent: written.isSilent)
        if written.clearedAt != .none { shelves.clearedAt = commit.revision }
        shelves.apply(written.parts, &commit)
        return commit.released
      }
      makeRoom(&released)
      guard let age = written.pruning else { continue }
      var sweep = EntitySweep(cutoff: age <= .zero ? .max : CoarseTime.birth(of: age, now))
      released.values += sweep.prune(self)
    }
  }

  /// Drops what there is no room for.
  @usableFromInline
  func makeRoom(_ released: inout Remains) {
    guard withLock({ $0.isCrowded(countLimit) }) else { return }
    var sweep = EntitySweep(cutoff: .max)
    released.values += sweep.makeRoom(countLimit, self)
  }

  @inlinable
  func peek<E>(_ reference: Reference<E>) -> E? {
    if let edit = draft.edit(of: reference.id, E.self) { return edit.value }
    return shelves.withLock { shelves in
      shelves.table(E.self)?.find(reference.id).value
    }
  }

  // MARK: Telling

  /// Carries out the notices that wait, unless another thread does, or a caller of this one: they
  /// go on until there are none.
  @usableFromInline
  func deliver() {
    var notices = shelves.withLock { $0.takeNotices(isFirst: true) }
    while !notices.isEmpty {
      for notice in notices { notice() }
      notices = shelves.withLock { $0.takeNotices(isFirst: false) }
    }
  }

  @usableFromInline
  func afterTelling(_ body: @escaping Notice) {
    shelves.withLock { $0.notices.append(body) }
    // Within a transaction nobody is told of anything; its end does that.
    if !turn.isMine() { deliver() }
  }

  /// Gives someone a number, and lets it wait for what comes from here until its lifetime ends.
  ///
  /// - Parameters:
  ///   - watch: Who is to be told when the wait is over; nil for one who does not mind.
  ///   - body: Registers what else there is to be registered; it gets the number.
  @inlinable
  func enter<Element, Result>(
    _ watch: Watch<Element>?, _ body: (inout EntityShelves, _ number: Int) -> Result
  ) -> Result {
    let (number, result) = shelves.withLock { shelves in
      let number = shelves.nextNumber()
      if let watch { shelves.askers[number] = Asker { watch.post(.failed($0)) } }
      return (number, body(&shelves, number))
    }
    watch?.lifetime.onEnd { [shelves] in
      let asker = shelves.withLock { $0.askers.removeValue(forKey: number) }
      _ = asker  // released here, not under the lock
    }
    return result
  }

  /// Runs `body` under the lock; what it returns is released after the unlock.
  @inlinable
  func withLock<Result>(_ body: (inout EntityShelves) -> Result) -> Result {
    shelves.withLock(body)
  }

  /// Ends the wait of everybody.
  @usableFromInline
  func failAll(_ error: any Error) {
    let askers = shelves.withLock { shelves in
      defer { shelves.askers = [:] }
      return shelves.askers.sorted { $0.key < $1.key }.map(\.value)
    }
    for asker in askers { asker.fail(error) }
  }
}

/// What writers leave behind, with objects of users in it.
@usableFromInline
struct Remains {
  @usableFromInline var drafts: [EntityDraft] = []
  @usableFromInline var values: [any Sendable] = []

  @inlinable
  init() {}
}
