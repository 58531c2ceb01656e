import MillpondCore
public import MillpondSignals
public import Synchronization

/// The engine of a store, which observers retain; they do not retain the store itself.
///
/// It has two gates. A writer has the *turn* from the start of a transaction to its commit; users'
/// code runs meanwhile, so only other writers wait for it. The stored entities are under a *lock*,
/// which is taken briefly, inside the turn to write, and outside of it to read and to observe. A
/// commit is one step under the lock and leaves its notices behind. One thread at a time, without
/// turn or lock, carries these out in order.
@usableFromInline
final class EntityCore: @unchecked Sendable {
  // Sendable because the transaction and the targets are touched only with the turn.
  @usableFromInline let turn = WriterTurn()
  @exclusivity(unchecked) @usableFromInline var transaction = Transaction()

  /// The references of the values in the present commit.
  @exclusivity(unchecked) @usableFromInline var targets: [NodeNumber] = []
  @usableFromInline let tables: Locked<EntityTables>
  @usableFromInline let time: CoarseTime

  @usableFromInline
  init(countLimit: Int, _ time: CoarseTime) {
    tables = Locked(EntityTables(countLimit))
    self.time = time
  }

  // MARK: Reading

  /// Returns the stored value; for the writer, its latest write.
  @inlinable
  func get<E>(_ reference: Reference<E>) -> E? {
    if turn.isMine(), let edit = transaction.edits(of: E.self)?.edit(of: reference.id) {
      return edit.value
    }
    let now = time.now()
    return tables.withLock { $0.table(E.self).read(reference.id, at: now) }
  }

  // MARK: Notifying

  /// Carries out the waiting notices until there are none.
  ///
  /// Does nothing if another thread, or a caller of this one, is already doing so.
  @usableFromInline
  func deliver() {
    var notices = tables.withLock { $0.observers.takeNotices(isFirst: true) }
    while !notices.isEmpty {
      for notice in notices { notice() }
      notices = tables.withLock { $0.observers.takeNotices(isFirst: false) }
    }
  }

  @usableFromInline
  func afterDelivery(_ body: @escaping @Sendable () -> Void) {
    tables.withLock { $0.observers.notices.append(Notice(body)) }
    // Inside a transaction no notices are carried out; its end does that.
    if !turn.isMine() { deliver() }
  }

  /// Gives a subscriber a number, and registers it for failures of the store until its lifetime
  /// ends.
  ///
  /// - Parameters:
  ///   - watch: The subscriber to fail when the store ends; nil for one that outlasts the end.
  ///   - body: Makes further registrations, with the number.
  @inlinable
  func enter<Element, Result>(
    _ watch: Watch<Element>?,
    _ body: (inout EntityTables, _ number: Int) -> Result
  ) -> Result {
    let (number, result, closing) = tables.withLock { tables in
      let number = tables.observers.nextNumber()
      if let watch { tables.observers.failures[number] = { watch.post(.failed($0)) } }
      return (number, body(&tables, number), tables.observers.closing)
    }
    if let closing { watch?.post(.failed(closing)) }
    watch?.lifetime.onEnd { [self] in
      tables.discard { $0.observers.failures.removeValue(forKey: number) }
    }
    return result
  }

  /// Fails all registered subscribers, and those that come later, because the store is released.
  func close(_ error: any Error) {
    tables.withLock { $0.observers.closing = error }
    failAll(error)
  }

  /// Fails all registered subscribers.
  @usableFromInline
  func failAll(_ error: any Error) {
    let failures = tables.withLock { exchange(&$0.observers.failures, with: [:]) }
    for (_, fail) in failures.sorted(by: { $0.key < $1.key }) { fail(error) }
  }
}

/// A re-entrant turn, which one writer has at a time.
///
/// Unlike under a lock, users' code runs during a turn: transactions, merges, comparisons. Only
/// writers wait for it; readers and observers never do.
@usableFromInline
struct WriterTurn: ~Copyable {
  @usableFromInline let gate = Gate()
  @usableFromInline let owner = AtomicValue<UInt>(0)

  /// Returns whether this thread has the turn; no other thread could have recorded that.
  ///
  /// Most often nobody has it, and then the thread need not be known.
  @inlinable
  borrowing func isMine() -> Bool {
    let owner = owner.load(ordering: .relaxed)
    return owner != 0 && owner == threadMark()
  }

  /// Runs `body` with the turn, which this thread must not have yet.
  @inlinable
  borrowing func take<Result>(_ body: () -> Result) -> Result {
    begin()
    let result = body()
    end()
    return result
  }

  // Not inlined into users' async functions: the lock and the mark belong to a thread.

  @usableFromInline
  @inline(never)
  borrowing func begin() {
    gate.lock()
    owner.store(threadMark(), ordering: .relaxed)
  }

  @usableFromInline
  @inline(never)
  borrowing func end() {
    owner.store(0, ordering: .relaxed)
    gate.unlock()
  }
}
