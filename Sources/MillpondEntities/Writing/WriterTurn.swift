public import MillpondSignals
public import Synchronization

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
