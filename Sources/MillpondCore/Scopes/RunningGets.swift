public import MillpondSignals

extension Source {
  /// Lets ``shutDown(deadline:)->_`` of a composition, or of its ``Repository``, end the gets of this
  /// source.
  ///
  ///     let users = memory.layered(over: disk.layered(over: api.stoppable())).reusingInFlight()
  ///     try await users.shutDown(deadline: .after(.seconds(5)))
  ///
  /// Apply it to a source that fetches, below the caches. After a shutdown each get of the result
  /// fails with ``CacheError/shutDown(key:)``, so gets that a cache above answers still succeed.
  /// Gets that run are waited for, and fail with the same error if they are cancelled at the
  /// deadline. Writes pass unchanged. With ``retrying(_:clock:)``, apply this over it, so that a
  /// get that was stopped is not tried again.
  ///
  /// A shutdown of one composition stops the source for all that use this value or a copy of it.
  /// The fetches of a ``Multiplexer``, a ``MultiplexerMap`` and a media cache are stoppable
  /// already.
  public func stoppable() -> Governed<Self> {
    Governed(self, by: .stop(RunningGets()))
  }
}

/// The running gets of a source, to which none is added after a stop.
@usableFromInline
final class RunningGets: Sendable {
  private struct State: Sendable {
    var gets = Registry<@Sendable () -> Void>()
    var isStopped = false
    var hasEnded = false

    /// Whether the last get has ended after a stop; true once.
    mutating func ends() -> Bool {
      if hasEnded || !isStopped || !gets.elements.isEmpty { return false }
      hasEnded = true
      return true
    }
  }

  private let state = Locked(State())
  private let ended = Promise<Void>()

  /// Whether no get is admitted any more.
  @usableFromInline var isStopped: Bool { state.withLock { $0.isStopped } }

  /// Returns the signal, which fails with ``CacheError/shutDown(key:)`` if it is stopped.
  ///
  /// - Parameters:
  ///   - signal: The signal of a get.
  ///   - key: Returns the text of its key.
  @usableFromInline
  func admit<Element>(
    _ signal: Signal<Element>, key: @escaping @Sendable () -> String
  ) -> Signal<Element> {
    signal.ended { [self] run, end in
      let fail: @Sendable () -> Void = { end(.failed(CacheError.shutDown(key: key()))) }
      let number = state.withLock { $0.isStopped ? nil : $0.gets.add(fail) }
      guard let number else { return fail() }
      run.onEnd { self.leave(number) }
    }
  }

  private func leave(_ number: Int) {
    let (gone, isLast) = state.withLock { ($0.gets.remove(number), $0.ends()) }
    withExtendedLifetime(gone) {}  // released here, not under the lock
    if isLast { ended.keep(by: .just(())) }
  }

  /// Admits no more gets, and cancels those that still run at the deadline.
  ///
  /// - Returns: The outcome: no get runs any more.
  func stop(by deadline: Deadline) -> Signal<Void> {
    let isDone = state.withLock { state in
      state.isStopped = true
      return state.ends()
    }
    if isDone { ended.keep(by: .just(())) }
    return ended.outcome.ended(by: deadline)
      .recover { [self] _ in
        cancelAll()
        return .just(())
      }
      .started()
  }

  private func cancelAll() {
    let gets = state.withLock { $0.gets.removeAll() }
    for cancel in gets { cancel() }
    if state.withLock({ $0.ends() }) { ended.keep(by: .just(())) }
  }
}
