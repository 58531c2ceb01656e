import MillpondCore
public import MillpondSignals
public import Synchronization

/// The work of a store, which those who observe it keep; the store itself they don't.
///
/// Two gates. Who writes has the *turn*, from the first line of a transaction to its commit; users'
/// code runs meanwhile, so nobody waits for it but other writers. What is stored is under a *lock*,
/// which is taken within the turn, and outside of it to read and to observe, each time for a moment.
/// A commit is one step under the lock: it leaves behind the notices of that commit, and one thread at
/// a time, without turn or lock, carries those out in order.
@usableFromInline
final class EntityCore: @unchecked Sendable {
  // Sendable because the transaction is touched only by whoever has the turn, and the observers only
  // under the lock of the tables.
  @usableFromInline let turn = WriterTurn()
  @exclusivity(unchecked) @usableFromInline var transaction = Transaction()
  @usableFromInline let tables = Locked(EntityTables())
  @exclusivity(unchecked) @usableFromInline var observers = Observers()
  @usableFromInline let time: CoarseTime
  @usableFromInline let countLimit: Int

  @usableFromInline
  init(countLimit: Int, _ time: CoarseTime) {
    self.countLimit = countLimit
    self.time = time
  }

  /// Runs `body` under the lock; what it returns is released after the unlock.
  @inlinable
  func withLock<Result>(_ body: (inout EntityTables, inout Observers) -> Result) -> Result {
    tables.withLock { body(&$0, &observers) }
  }

  // MARK: Reading

  /// What is stored now; for the writer, what it has written.
  @inlinable
  func get<E>(_ reference: Reference<E>) -> E? {
    if turn.isMine(), let edit = transaction.edits(of: E.self)?.edit(of: reference.id) {
      return edit.value
    }
    let now = time.now()
    return tables.withLock { tables in
      let table = tables.table(E.self)
      guard let row = table.row(of: reference.id) else { return nil }
      table.rows[Int(row)].touched = now
      return table.rows[Int(row)].value
    }
  }

  @usableFromInline
  var count: Int {
    tables.withLock { $0.storedCount }
  }

  // MARK: Telling

  /// Carries out the notices that wait, unless another thread does, or a caller of this one: they
  /// go on until there are none.
  @usableFromInline
  func deliver() {
    var notices = withLock { $1.takeNotices(isFirst: true) }
    while !notices.isEmpty {
      for notice in notices { notice() }
      notices = withLock { $1.takeNotices(isFirst: false) }
    }
  }

  @usableFromInline
  func afterTelling(_ body: @escaping Notice) {
    withLock { $1.notices.append(body) }
    // Within a transaction nobody is told of anything; its end does that.
    if !turn.isMine() { deliver() }
  }

  /// Gives a subscriber a number, and lets it wait for what comes from here until its lifetime ends.
  ///
  /// - Parameters:
  ///   - watch: Who is to be told when the wait is over; nil for one who does not mind.
  ///   - body: Registers what else there is to be registered; it gets the number.
  @inlinable
  func enter<Element, Result>(
    _ watch: Watch<Element>?,
    _ body: (inout EntityTables, inout Observers, _ number: Int) -> Result
  ) -> Result {
    let (number, result) = withLock { tables, observers in
      let number = observers.nextNumber()
      if let watch { observers.failures[number] = { watch.post(.failed($0)) } }
      return (number, body(&tables, &observers, number))
    }
    watch?.lifetime.onEnd { [self] in
      let failure = withLock { $1.failures.removeValue(forKey: number) }
      _ = failure  // released here, not under the lock
    }
    return result
  }

  /// Ends the wait of everybody.
  @usableFromInline
  func failAll(_ error: any Error) {
    let failures = withLock { _, observers in
      defer { observers.failures = [:] }
      return observers.failures.sorted { $0.key < $1.key }.map(\.value)
    }
    for fail in failures { fail(error) }
  }
}

/// One writer at a time, who may be asked to write again while it does.
///
/// Unlike under a lock, users' code runs while someone has the turn: transactions, merges,
/// comparisons. Only writers wait for it, never those who read, nor those who are told.
@usableFromInline
struct WriterTurn: ~Copyable {
  @usableFromInline let gate = Gate()
  @usableFromInline let owner = Atomic<UInt>(0)

  /// Whether this thread has it; only this thread could have noted so.
  @inlinable
  borrowing func isMine() -> Bool {
    owner.load(ordering: .relaxed) == threadMark()
  }

  /// Runs `body` when it is this thread's turn, which must not have it yet.
  @inlinable
  borrowing func take<Result>(_ body: () -> Result) -> Result {
    gate.withLock {
      owner.store(threadMark(), ordering: .relaxed)
      let result = body()
      owner.store(0, ordering: .relaxed)
      return result
    }
  }
}
