public import MillpondSignals

/// What can be told by a ``Repository``, with others, to save or to forget what it keeps.
public protocol RepositoryMember: AnyObject, Sendable {
  /// Completes when all that is kept is where it outlives the process; it runs at once.
  func flush() -> Signal<Void>

  /// Forgets all that is kept, at once.
  func clear() -> Signal<Void>
}

/// Multiplexers and caches under unique names, to be flushed or cleared all together.
///
///     let repository = Repository()
///     try repository.add(profile, named: "profile")
///     try repository.add(users, named: "users")
///     repository.flush().subscribe(onProgress: { bar.fraction = $0.fraction })
///     repository.clear()
///
/// It keeps none of its members; the name of one that is gone is free again.
///
/// - Note: Any thread. There is no shared one: make it where your multiplexers are made.
public final class Repository: Sendable {
  private let members = Locked<[String: Entry]>([:])

  private struct Entry: Sendable {
    weak var member: (any RepositoryMember)?
  }

  /// A repository of nothing yet.
  public init() {}

  /// Adds a member, as long as somebody else keeps it.
  ///
  /// - Throws: ``CacheError/nameTaken(name:)`` if another has that name.
  public func add(_ member: some RepositoryMember, named name: String) throws {
    let other = members.withLock { members in
      let other = members[name]?.member
      if other == nil { members[name] = Entry(member: member) }
      return other  // what may be its last reference is released after the unlock
    }
    if other != nil { throw CacheError.nameTaken(name: name) }
  }

  /// Takes the member of that name out, if there is one.
  public func remove(named name: String) {
    members.withLock { $0[name] = nil }
  }

  /// The names of the members that are there still, sorted.
  public var names: [String] {
    present.map(\.name)
  }

  /// Flushes every member, now, also if others fail.
  ///
  /// - Returns: The outcome, replayed, and how many members are done; the first failure is reported.
  @discardableResult
  public func flush() -> Signal<Void> {
    all { $0.flush() }
  }

  /// Clears every member, now, also if others fail.
  ///
  /// - Returns: The outcome, replayed, and how many members are done; the first failure is reported.
  @discardableResult
  public func clear() -> Signal<Void> {
    all { $0.clear() }
  }

  private var present: [(name: String, member: any RepositoryMember)] {
    members.withLock { $0.mapValues(\.member) }
      .compactMap { name, member in member.map { (name: name, member: $0) } }
      .sorted { $0.name < $1.name }
  }

  private func all(_ act: (any RepositoryMember) -> Signal<Void>) -> Signal<Void> {
    let outcomes = present.map { act($0.member).settle() }
    let total = outcomes.count
    return Signal.create { observer, lifetime in
      Signal.merge(outcomes).scan([]) { $0 + [$1] }.startWith([])
        .onNext { observer.progress(SignalProgress(completed: $0.count, total: total)) }
        .last().attemptMap { for result in $0 { try result.get() } }
        .run(observer, lifetime)
    }.started()
  }
}

extension RepositoryMember where Self: Cache {
  /// Forgets all that is kept, at once.
  @discardableResult
  public func clear() -> Signal<Void> {
    removeAll()
  }
}

extension MultiplexerMap: RepositoryMember {}
extension Multiplexer: RepositoryMember {}
