public import MillpondSignals

/// A group of caches and other members that are erased together, for example when a user signs out.
///
///     let session = CacheScope()
///     let profiles = memory.layered(over: disk.layered(over: api)).reusingInFlight()
///       .scoped(to: session)
///     let membership = session.add(isPersistent: true) { .async { try drafts.deleteFiles() } }
///     try await session.end()  // at sign-out
///
/// A scope can end more than once: gets and writes after an end belong to the next user.
///
/// - Note: Any thread.
public final class CacheScope: Sendable {
  private let state = Locked(ScopeState())

  /// Creates a scope without members.
  public init() {}

  /// Erases all members, and fails the callers that wait for an answer.
  ///
  /// After this returns, no member answers with earlier data, no earlier flight can be joined,
  /// stored or waited for, and every waiting caller has received ``CacheError/scopeEnded(key:)``. A
  /// caller whose callback runs on another thread at that moment receives it right after that
  /// callback.
  ///
  /// The outcome succeeds when nothing is left in files either, and no `SignalState` or other model
  /// shows earlier data. It waits for the erasure of every member, for writes through ``Scoped``
  /// caches that were in progress, and, where models of a view asked, for the main actor. Every
  /// member is erased, also if others fail. After a failure, call this again.
  ///
  /// - Returns: The outcome, replayed, with the first failure. Disposing of it cancels nothing.
  /// - Complexity: O(*n* log *n*) in the members, and O(*n*) in the waiting callers.
  @discardableResult
  public func end() -> Signal<Void> {
    let (members, writes, waiting) = state.withLock {
      ($0.members.numbered, Array($0.writes.elements), $0.takeCallers())
    }
    // A get that has not asked yet must not store its answer after the erasure.
    for caller in waiting { caller.run.end() }
    // Erased before they fail: a caller that asks again must not find earlier data.
    let erasures = members.map { number, member in
      let erasure = member.erase().started()
      if member.hasLeft { forget(number, after: erasure) }
      return erasure
    }
    let (callers, viewers) = state.withLock { ($0.takeCallers(), $0.takeViewers()) }
    for caller in waiting + callers { caller.fail() }
    // A write that fails leaves nothing behind.
    var ended = writes.map { $0.recover { _ in .just(()) } }
    if !viewers.isEmpty { ended.append(Viewer.clear(viewers, CacheError.scopeEnded())) }
    return WriteOutcome.all(erasures + ended).started()
  }

  /// Ends the scope, and returns when nothing is left in files either: the form for asynchronous
  /// code.
  ///
  /// No member answers with earlier data any more when this is suspended. Cancelling the task ends
  /// the wait, with `CancellationError`, and not the erasure.
  ///
  /// - Throws: The first failure, when all members are done; then call this again.
  public nonisolated(nonsending) func end() async throws {
    try await end().value
  }

  /// Adds a member: `erase` runs at every end of the scope, until the returned handle is disposed
  /// of.
  ///
  ///     let membership = session.add(isPersistent: true) { drafts.erase() }
  ///     …
  ///     membership.dispose()  // or membership.scoped(), to leave with the release of an object
  ///
  /// Members are erased in the order in which they were added, so add the lowest layer first.
  ///
  /// - Parameters:
  ///   - isPersistent: Whether data is left, for example in files, after the handle is disposed of.
  ///     Then the scope keeps `erase` until it has succeeded at a later end; otherwise it releases
  ///     it at once.
  ///   - erase: Erases everything stored until now, and refuses to store the answers of earlier
  ///     gets. When it returns, none of that may be in an answer; its signal succeeds when nothing
  ///     is left in files either. Runs on the thread that ends the scope, without a lock.
  /// - Returns: The membership. Releasing it does not end the membership.
  /// - Complexity: O(1).
  public func add(
    isPersistent: Bool = false, erase: @escaping @Sendable () -> Signal<Void>
  ) -> Disposable {
    let member = ScopeMember(erase: erase, isPersistent: isPersistent)
    let number = state.withLock { $0.members.add(member) }
    return Disposable { [state] in
      state.discard { $0.leave(number) }
    }
  }

  /// Makes the next end wait for a write, if it is in progress.
  @inlinable
  func wait(for write: Signal<Void>) {
    if !write.isDone { keep(write) }
  }

  @usableFromInline
  func keep(_ write: Signal<Void>) {
    let kept = state.keep(write, in: \.writes)
    write.subscribe { if $0.isTerminal { kept.dispose() } }
  }

  /// Lets a viewer show nothing of what it receives from now on after the next end.
  func keep(_ viewer: Viewer) {
    let id = ObjectIdentifier(viewer)
    if !state.withLock({ $0.add(viewer, id) }) { return }
    viewer.onEnd { [state] in
      state.discard { $0.viewers.removeValue(forKey: id) }
    }
  }

  /// The number of ends so far.
  var endCount: Int {
    state.withLock { $0.endCount }
  }

  /// Returns the signal, which fails with ``CacheError/scopeEnded(key:)`` if the scope ends first.
  ///
  /// - Parameters:
  ///   - signal: The signal of the work.
  ///   - endCount: The number of ends when the work began; nil if it begins with the subscription.
  ///   - key: Returns the text of the key for the error; nil without a key.
  @usableFromInline
  package func untilEnd<Element>(
    _ signal: Signal<Element>, since endCount: Int? = nil, key: (@Sendable () -> String)? = nil
  ) -> Signal<Element> {
    signal.ended { [state] run, end in
      let fail: @Sendable () -> Void = { end(.failed(CacheError.scopeEnded(key: key?()))) }
      let number = state.withLock { $0.enter(ScopeCaller(run: run, fail: fail), since: endCount) }
      guard let number else { return fail() }
      run.onEnd {
        state.discard { $0.callers.remove(number) }
      }
    }
  }

  /// Releases a member that has left, once its erasure has succeeded.
  private func forget(_ number: Int, after erasure: Signal<Void>) {
    erasure.subscribe { [state] event in
      guard case .completed = event else { return }
      state.discard { $0.members.remove(number) }
    }
  }
}

/// The members of a scope, and the callers and writes that its end concerns.
private struct ScopeState: Sendable {
  var members = Registry<ScopeMember>()

  var callers = Registry<ScopeCaller>()

  var writes = Registry<Signal<Void>>()

  /// The viewers of answers, also of those that are complete.
  var viewers: [ObjectIdentifier: Viewer] = [:]
  private(set) var endCount = 0

  /// Adds a caller; nil if the scope has ended since `endCount`.
  mutating func enter(_ caller: ScopeCaller, since endCount: Int?) -> Int? {
    if let endCount, endCount != self.endCount { return nil }
    return callers.add(caller)
  }

  /// Removes a member, or marks it for removal after an erasure; returns it to be released after
  /// the unlock.
  mutating func leave(_ number: Int) -> ScopeMember? {
    guard members[number]?.isPersistent == true else { return members.remove(number) }
    members[number]?.hasLeft = true
    return nil
  }

  /// Adds a viewer; false if it is there already.
  mutating func add(_ viewer: Viewer, _ id: ObjectIdentifier) -> Bool {
    viewers.updateValue(viewer, forKey: id) == nil
  }

  mutating func takeViewers() -> [Viewer] {
    defer { viewers = [:] }
    return Array(viewers.values)
  }

  mutating func takeCallers() -> [ScopeCaller] {
    endCount += 1
    return callers.removeAll()
  }
}

/// A caller that waits for an answer.
private struct ScopeCaller: Sendable {
  /// The lifetime of the work for it.
  let run: Lifetime
  let fail: @Sendable () -> Void
}

private struct ScopeMember: Sendable {
  let erase: @Sendable () -> Signal<Void>
  let isPersistent: Bool

  /// Whether the handle was disposed of, so that the next successful erasure is the last.
  var hasLeft = false
}
