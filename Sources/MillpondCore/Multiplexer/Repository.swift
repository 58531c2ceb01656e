public import MillpondSignals

/// A cache that a ``Repository`` can flush or clear together with others.
public protocol RepositoryMember: AnyObject, Sendable {
  /// Completes when all values are stored where they outlive the process; starts at once.
  func flush() -> Signal<Void>

  /// Removes all values, at once.
  func clear() -> Signal<Void>
}

/// Multiplexers and caches under unique names, to be flushed or cleared together.
///
///     let repository = Repository()
///     try repository.add(profile, named: "profile")
///     try repository.add(users, named: "users")
///     repository.flush().subscribe(onProgress: { bar.fraction = $0.fraction })
///     repository.clear()
///
/// It references its members weakly; the name of a released member is free again.
///
/// - Note: Any thread. There is no shared instance: create one where your multiplexers are created.
public final class Repository: Sendable {
  private let members = Locked<[String: Entry]>([:])

  private struct Entry: Sendable {
    weak var member: (any RepositoryMember)?
  }

  /// Creates an empty repository.
  public init() {}

  /// Adds a member, which another object has to retain.
  ///
  /// - Parameters:
  ///   - member: The cache to add.
  ///   - name: A name that no other member has.
  /// - Throws: ``CacheError/nameTaken(name:)`` if another member has that name.
  public func add(_ member: some RepositoryMember, named name: String) throws {
    let other = members.withLock { members in
      let other = members[name]?.member
      if other == nil { members[name] = Entry(member: member) }
      return other  // possibly its last reference, which is released after the unlock
    }
    if other != nil { throw CacheError.nameTaken(name: name) }
  }

  /// Removes the member with that name, if there is one.
  public func remove(named name: String) {
    members.withLock { $0[name] = nil }
  }

  /// The names of the members that have not been released, sorted.
  public var names: [String] {
    present.map(\.name)
  }

  /// Flushes every member now, also if others fail.
  ///
  /// - Returns: The outcome, replayed, with the first failure. Its progress counts finished
  ///   members.
  @discardableResult
  public func flush() -> Signal<Void> {
    all { $0.flush() }
  }

  /// Clears every member now, also if others fail.
  ///
  /// - Returns: The outcome, replayed, with the first failure. Its progress counts finished
  ///   members.
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
  /// Removes all values, at once.
  @discardableResult
  public func clear() -> Signal<Void> {
    removeAll()
  }
}

extension MultiplexerMap: RepositoryMember {}
extension Multiplexer: RepositoryMember {}
