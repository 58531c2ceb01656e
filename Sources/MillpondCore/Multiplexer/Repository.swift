public import MillpondSignals

/// Caches, multiplexers and stores under unique names, to be flushed, emptied or shut down
/// together.
///
///     let repository = Repository()
///     try repository.add(profile, named: "profile")     // a Multiplexer
///     try repository.add(pictures, named: "pictures")   // any Cache
///     try repository.add(RepositoryMember(removeAll: { drafts.erase() }), named: "drafts")
///
///     repository.flush().subscribe(onProgress: { bar.fraction = $0.fraction })
///     repository.removeAllValues()
///     try await repository.shutDown(deadline: .after(.seconds(5)))
///
/// It retains its members until they are removed by name, and no member retains it.
///
/// - Note: Any thread. There is no shared instance: create one where your multiplexers are created.
public final class Repository: Sendable {
  private let state = Locked(State())

  private struct State: Sendable {
    var members: [String: RepositoryMember] = [:]

    /// The outcome of the shutdown, once that has begun.
    var end: Promise<Void>?
  }

  /// Creates an empty repository.
  public init() {}

  // MARK: Members

  /// Adds a cache of any kind: in memory, on disk, layered, multiplexed, of media.
  ///
  /// - Parameters:
  ///   - cache: The cache to add; all its layers are flushed, emptied, marked stale and closed.
  ///   - name: A name that no other member has.
  /// - Throws: ``CacheError/nameTaken(name:)`` if another member has that name;
  ///   ``CacheError/shutDown(key:)`` after ``shutDown(deadline:)->_``.
  public func add(_ cache: some Cache, named name: String) throws {
    try add(RepositoryMember(cache), named: name)
  }

  /// Adds a multiplexer.
  ///
  /// - Parameters:
  ///   - multiplexer: The multiplexer to add.
  ///   - name: A name that no other member has.
  /// - Throws: ``CacheError/nameTaken(name:)`` if another member has that name;
  ///   ``CacheError/shutDown(key:)`` after ``shutDown(deadline:)->_``.
  public func add<Value>(_ multiplexer: Multiplexer<Value>, named name: String) throws {
    try add(RepositoryMember(multiplexer.map), named: name)
  }

  /// Adds anything else that can be flushed, emptied or closed.
  ///
  /// - Parameters:
  ///   - member: The functions of the member.
  ///   - name: A name that no other member has.
  /// - Throws: ``CacheError/nameTaken(name:)`` if another member has that name;
  ///   ``CacheError/shutDown(key:)`` after ``shutDown(deadline:)->_``.
  public func add(_ member: RepositoryMember, named name: String) throws {
    let refusal = state.withLock { state -> CacheError? in
      if state.end != nil { return .shutDown() }
      if state.members[name] != nil { return .nameTaken(name: name) }
      state.members[name] = member
      return nil
    }
    if let refusal { throw refusal }
  }

  /// Removes the member with that name, if there is one, and releases it.
  public func remove(named name: String) {
    state.discard { $0.members.removeValue(forKey: name) }
  }

  /// The names of the members, sorted.
  public var names: [String] {
    members.map(\.name)
  }

  private var members: [(name: String, member: RepositoryMember)] {
    state.withLock { $0.members }.map { (name: $0.key, member: $0.value) }
      .sorted { $0.name < $1.name }
  }

  // MARK: All members

  /// Flushes every member now, also if others fail.
  ///
  /// - Returns: The outcome, replayed; it fails with ``CacheError/stepsFailed(_:)``, which names
  ///   the members that failed. Its progress counts finished members.
  @discardableResult
  public func flush() -> Signal<Void> {
    all("flush") { $0.flush() }
  }

  /// Flushes every member, and returns when that is done: the form for asynchronous code.
  ///
  /// Cancelling the task ends the wait, with `CancellationError`, and not the flush.
  ///
  /// - Throws: ``CacheError/stepsFailed(_:)``, which names the members that failed.
  public nonisolated(nonsending) func flush() async throws {
    try await flush().value
  }

  /// Removes the values of every member now, also if others fail; the members stay.
  ///
  /// - Returns: The outcome, replayed; it fails with ``CacheError/stepsFailed(_:)``, which names
  ///   the members that failed. Its progress counts finished members.
  @discardableResult
  public func removeAllValues() -> Signal<Void> {
    all("removal") { $0.removeAll() }
  }

  /// Removes the values of every member, and returns when that is done: the form for asynchronous
  /// code.
  ///
  /// Cancelling the task ends the wait, with `CancellationError`, and not the removal.
  ///
  /// - Throws: ``CacheError/stepsFailed(_:)``, which names the members that failed.
  public nonisolated(nonsending) func removeAllValues() async throws {
    try await removeAllValues().value
  }

  /// Makes every value of multiplexers and other refreshing caches stale, without a fetch; see
  /// ``ObservableCache/markStale(_:)``.
  public func markAllStale() {
    for (_, member) in members { member.markAllStale() }
  }

  /// Ends the work of all members in order: nothing new is fetched, what runs ends, what is unsaved
  /// is flushed, and files are closed.
  ///
  /// Starts at once; each step begins for all members together, as in
  /// ``Source/shutDown(deadline:)->_`` of one cache. A member that fails or hangs stops no other one.
  /// Later calls return the outcome of the first, whatever their deadline, and no member can be
  /// added any more.
  ///
  /// - Parameter deadline: The moment at which the outcome fails if not all is done.
  /// - Returns: The outcome, replayed, which may be ignored. Its progress counts the steps of all
  ///   members. It fails with ``CacheError/unfinished(steps:underlying:)`` at the deadline, with
  ///   the names of the members that are not done; or, after all steps, with
  ///   ``CacheError/stepsFailed(_:)``.
  @discardableResult
  public func shutDown(deadline: Deadline) -> Signal<Void> {
    let new = Promise<Void>()
    let end = state.withLock { state in
      defer { state.end = state.end ?? new }
      return state.end
    }
    if let end { return end.outcome }
    new.keep(by: ShutDown(parts: members, deadline: deadline).run())
    return new.outcome
  }

  /// Ends the work of all members, and returns when that is done: the form for asynchronous code.
  ///
  /// Cancelling the task ends the wait, with `CancellationError`, and not the shutdown.
  ///
  /// - Parameter deadline: The moment at which this fails if not all is done.
  /// - Throws: ``CacheError/unfinished(steps:underlying:)`` at the deadline, or, after all steps,
  ///   ``CacheError/stepsFailed(_:)``.
  public nonisolated(nonsending) func shutDown(deadline: Deadline) async throws {
    try await shutDown(deadline: deadline).value
  }

  private func all(
    _ name: String, _ act: (RepositoryMember) -> Signal<Void>
  ) -> Signal<Void> {
    let reports = members.map { act($0.member).report(as: "\(name) of \($0.name)") }
    return Signal.merge(reports).outcome(ofSteps: reports.count) {
      try StepReport.check($0.sorted { $0.step < $1.step })
    }.started()
  }
}
