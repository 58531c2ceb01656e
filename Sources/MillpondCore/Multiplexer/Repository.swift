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
///     try await repository.shutDown(deadline: .after(.seconds(5))).value
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
  ///   ``CacheError/shutDown(key:)`` after ``shutDown(deadline:)``.
  public func add(_ cache: some Cache, named name: String) throws {
    try add(RepositoryMember(cache), named: name)
  }

  /// Adds a multiplexer.
  ///
  /// - Parameters:
  ///   - multiplexer: The multiplexer to add.
  ///   - name: A name that no other member has.
  /// - Throws: ``CacheError/nameTaken(name:)`` if another member has that name;
  ///   ``CacheError/shutDown(key:)`` after ``shutDown(deadline:)``.
  public func add<Value>(_ multiplexer: Multiplexer<Value>, named name: String) throws {
    try add(RepositoryMember(multiplexer.map), named: name)
  }

  /// Adds anything else that can be flushed, emptied or closed.
  ///
  /// - Parameters:
  ///   - member: The functions of the member.
  ///   - name: A name that no other member has.
  /// - Throws: ``CacheError/nameTaken(name:)`` if another member has that name;
  ///   ``CacheError/shutDown(key:)`` after ``shutDown(deadline:)``.
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

  /// Removes the values of every member now, also if others fail; the members stay.
  ///
  /// - Returns: The outcome, replayed; it fails with ``CacheError/stepsFailed(_:)``, which names
  ///   the members that failed. Its progress counts finished members.
  @discardableResult
  public func removeAllValues() -> Signal<Void> {
    all("removal") { $0.removeAll() }
  }

  /// Makes every value of multiplexers and other refreshing caches stale, without a fetch; see
  /// ``Remembered/markStale(_:)``.
  public func markAllStale() {
    for (_, member) in members { member.markAllStale() }
  }

  /// Ends the work of all members in order: nothing new is fetched, what runs ends, what is unsaved
  /// is flushed, and files are closed.
  ///
  /// Starts at once; each step begins for all members together, as in
  /// ``Source/shutDown(deadline:)`` of one cache. A member that fails or hangs stops no other one.
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
    let parts = members.map { name, member in
      ShutDown.Part(name: name, stop: member.stop, flush: member.flush, close: member.close)
    }
    new.keep(by: ShutDown(parts: parts, deadline: deadline).run())
    return new.outcome
  }

  private func all(
    _ name: String, _ act: (RepositoryMember) -> Signal<Void>
  ) -> Signal<Void> {
    let outcomes = members.map { member in
      act(member.member).settle().map { (step: "\(name) of \(member.name)", result: $0) }
    }
    let total = outcomes.count
    return Signal.create { observer, lifetime in
      Signal.merge(outcomes).scan([]) { $0 + [$1] }.startWith([])
        .onNext { observer.progress(SignalProgress(completed: $0.count, total: total)) }
        .last().attemptMap { try Self.check($0) }
        .run(observer, lifetime)
    }.started()
  }

  private static func check(_ reports: [(step: String, result: Result<Void, any Error>)]) throws {
    let failures = reports.compactMap { report -> (step: String, error: any Error)? in
      if case .failure(let error) = report.result { (report.step, error) } else { nil }
    }.sorted { $0.step < $1.step }
    if !failures.isEmpty { throw CacheError.stepsFailed(failures) }
  }
}

/// The functions by which a ``Repository`` treats a member together with others.
///
///     let drafts = RepositoryMember(
///       flush: { .async { try await files.save() } },
///       removeAll: { .async { try await files.erase() } })
///
/// A function that is left out succeeds and does nothing. Each one starts its work at once and does
/// not block. The repository retains them.
public struct RepositoryMember: Sendable {
  let flush: @Sendable () -> Signal<Void>
  let removeAll: @Sendable () -> Signal<Void>
  let markAllStale: @Sendable () -> Void
  let stop: @Sendable (Deadline) -> Signal<Void>
  let close: @Sendable () -> Signal<Void>

  /// Creates a member from its functions.
  ///
  /// - Parameters:
  ///   - flush: Completes when all values are stored where they outlive the process.
  ///   - removeAll: Removes all values at once; its signal completes when none is left in files
  ///     either.
  ///   - markAllStale: Makes every value stale.
  ///   - stop: Starts no more work from now on; its signal completes when the running work has
  ///     ended, or was cancelled at the deadline.
  ///   - close: Releases files and the like; called after the flush, in a shutdown only.
  public init(
    flush: @escaping @Sendable () -> Signal<Void> = { .just(()) },
    removeAll: @escaping @Sendable () -> Signal<Void> = { .just(()) },
    markAllStale: @escaping @Sendable () -> Void = {},
    stop: @escaping @Sendable (Deadline) -> Signal<Void> = { _ in .just(()) },
    close: @escaping @Sendable () -> Signal<Void> = { .just(()) }
  ) {
    self.flush = flush
    self.removeAll = removeAll
    self.markAllStale = markAllStale
    self.stop = stop
    self.close = close
  }

  init(_ cache: some Cache) {
    self.init(
      flush: { cache.flush() }, removeAll: { cache.removeAll() },
      markAllStale: { for part in cache.topology(for: nil).allControls { part.markAllStale?() } },
      stop: { cache.topology(for: nil).shutDownPart(named: "").stop($0) },
      close: { cache.topology(for: nil).shutDownPart(named: "").close() })
  }
}
