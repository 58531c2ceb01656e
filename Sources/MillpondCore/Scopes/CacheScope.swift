public import MillpondSignals

/// Everything that ends together: all that is kept for a signed-in user, say.
///
///     let session = CacheScope()
///     let profiles = memory.layered(over: disk.layered(over: api)).reusingInFlight()
///       .scoped(to: session)
///     let membership = session.add(isPersistent: true) { .async { try drafts.deleteFiles() } }
///     try await session.end().value  // at sign-out
///
/// A scope can end more than once: what is asked for or written afterwards belongs to the next user.
///
/// - Note: Any thread.
public final class CacheScope: Sendable {
  private let state = Locked(ScopeState())

  /// Creates a scope without members.
  public init() {}

  /// Erases what all members keep, and fails the callers that wait for an answer.
  ///
  /// When this returns, no member answers with anything from before, no earlier flight can be joined,
  /// stored or waited for, and every caller that was waiting has received ``CacheError/scopeEnded``. A
  /// caller whose callback runs on another thread at that moment receives it right after that callback.
  ///
  /// The outcome tells when nothing is left in files either. It waits for every member's erasure and for
  /// the writes through ``Scoped`` caches that were in progress. Every member is erased, also if others
  /// fail. After a failure, call this again.
  ///
  /// - Returns: The outcome, replayed; the first failure is reported. Disposing of it cancels nothing.
  /// - Complexity: O(*n* log *n*) in the members, and O(*n*) in the waiting callers.
  @discardableResult
  public func end() -> Signal<Void> {
    let (members, writes) = state.withLock { ($0.members.numbered, Array($0.writes.elements)) }
    // Erased first: a caller that asks again from its failure must not find anything from before.
    let erasures = members.map { number, member in
      let erasure = member.erase().started()
      if member.hasLeft { forget(number, after: erasure) }
      return erasure.settle()
    }
    for caller in state.withLock({ $0.takeCallers() }) { caller.fail() }
    // A write that fails leaves nothing behind.
    let ended = writes.map { $0.settle().map { _ in Result<Void, any Error>.success(()) } }
    return Signal.merge(erasures + ended).collect().attemptMap { results in
      for result in results { try result.get() }
    }.started()
  }

  /// Adds a member: `erase` runs at every end of the scope, until the returned handle is disposed of.
  ///
  ///     let membership = session.add(isPersistent: true) { drafts.erase() }
  ///     …
  ///     membership.dispose()  // or membership.scoped(), as long as an object lives
  ///
  /// Members are erased in the order in which they were added: add what is asked last first.
  ///
  /// - Parameters:
  ///   - isPersistent: Whether anything is left, in files for example, when the handle is disposed of.
  ///     Then the scope keeps `erase` until it has succeeded at a later end; otherwise it lets go of it at
  ///     once.
  ///   - erase: Erases everything kept until now, and refuses to store what was asked for until now. At its
  ///     return nothing of that may be in an answer; its signal succeeds when nothing is left in files
  ///     either. It runs on the thread that ends the scope, with no lock held.
  /// - Returns: The membership. Dropping it is not leaving: the member stays as long as the scope.
  /// - Complexity: O(1).
  public func add(
    isPersistent: Bool = false, erase: @escaping @Sendable () -> Signal<Void>
  ) -> Disposable {
    let member = ScopeMember(erase: erase, isPersistent: isPersistent)
    let number = state.withLock { $0.members.add(member) }
    return Disposable { [state] in
      let gone = state.withLock { $0.leave(number) }
      _ = gone  // released here, not under the lock
    }
  }

  /// Lets the next end wait for a write in progress.
  @usableFromInline
  func wait(for write: Signal<Void>) {
    let kept = state.keep(write, in: \.writes)
    write.subscribe { if $0.isTerminal { kept.dispose() } }
  }

  /// The number of ends so far.
  var endCount: Int {
    state.withLock { $0.endCount }
  }

  /// The signal, or ``CacheError/scopeEnded`` if the scope ends before it does.
  ///
  /// - Parameter endCount: The number of ends when the work began; nil if it begins with the subscription.
  @usableFromInline
  package func untilEnd<Answer>(
    _ signal: Signal<Answer>, since endCount: Int? = nil
  ) -> Signal<Answer> {
    signal.ended { [state] run, end in
      let caller = ScopedCaller { end(.failed(CacheError.scopeEnded)) }
      guard let number = state.withLock({ $0.enter(caller, since: endCount) }) else {
        return caller.fail()
      }
      run.onEnd {
        let gone = state.withLock { $0.callers.remove(number) }
        _ = gone  // released here, not under the lock
      }
    }
  }

  /// Lets go of a member that has left, when its erasure has succeeded.
  private func forget(_ number: Int, after erasure: Signal<Void>) {
    erasure.subscribe { [state] event in
      guard case .completed = event else { return }
      let gone = state.withLock { $0.members.remove(number) }
      _ = gone  // released here, not under the lock
    }
  }
}

/// The members of a scope, and the callers and the writes that its end concerns.
private struct ScopeState: Sendable {
  var members = Registry<ScopeMember>()
  var callers = Registry<ScopedCaller>()
  var writes = Registry<Signal<Void>>()
  private(set) var endCount = 0

  /// Nil if the scope has ended since then.
  mutating func enter(_ caller: ScopedCaller, since endCount: Int?) -> Int? {
    if let endCount, endCount != self.endCount { return nil }
    return callers.add(caller)
  }

  /// Takes a member out, or marks it to go after an erasure; what is to be released is given back.
  mutating func leave(_ number: Int) -> ScopeMember? {
    guard members[number]?.isPersistent == true else { return members.remove(number) }
    members[number]?.hasLeft = true
    return nil
  }

  mutating func takeCallers() -> [ScopedCaller] {
    endCount += 1
    return callers.removeAll()
  }
}

private struct ScopeMember: Sendable {
  let erase: @Sendable () -> Signal<Void>
  let isPersistent: Bool

  /// Whether the membership was disposed of, so that one more erasure is the last.
  var hasLeft = false
}

private struct ScopedCaller: Sendable {
  let fail: @Sendable () -> Void
}
