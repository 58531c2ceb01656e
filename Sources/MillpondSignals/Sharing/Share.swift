public import Synchronization

extension Signal {
  /// Shares one run among its present subscribers, and repeats nothing.
  ///
  /// The first subscriber starts the run; a later one receives the events from then on. When the
  /// last one leaves before the end, the run is disposed of. After that, or after the end, the next
  /// subscriber starts a new run.
  @inlinable
  public func share() -> Signal {
    let replay = Replay(self, .cancelWhenUnobserved, repeats: false)
    return Signal(
      start: { replay.subscribeQuietly($0, $1) }, now: nil, emptyError: emptyError)
  }
}

extension Replay {
  /// Starts a run or joins the running one, and never delivers events of others on this thread.
  ///
  /// Only for a replay that repeats nothing, which has no settled run.
  @inlinable
  func subscribeQuietly(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    guard let (run, isNew) = enter(lifetime) else { return }
    leave(run, run.joinQuietly(observer, lifetime), at: lifetime)
    if isNew { start(run) }
  }
}

extension ReplayedRun {
  /// Sends the events that follow, or the end if there was one, until `lifetime` ends.
  ///
  /// - Returns: The number for ``leave(_:)`` when that lifetime has ended.
  @inlinable
  final func joinQuietly(_ observer: Observer<Value>, _ lifetime: Lifetime) -> Int {
    let member = ListedSubscriber(arrivals.add(1, ordering: .relaxed).newValue, observer, lifetime)
    let received: Event<Never>?? = mailbox.actQuietly(orPost: .arrival(member)) {
      if end == nil, member.isListening { members.add(member) }
      return end
    }
    if case .some(let end?) = received, member.isListening { observer.other(end) }
    return member.number
  }
}
