public import MillpondCore

extension EntityTables {
  /// Whether something has to be dropped, and it was not tried in vain of late.
  @usableFromInline
  func isCrowded(_ countLimit: Int) -> Bool {
    storedCount > max(0, countLimit) && storedCount > collection.crowd
  }

  /// Notes that a value has come to a node, or has gone, and what it refers to.
  ///
  /// - Parameters:
  ///   - isStored: Whether it has come.
  ///   - targets: Whom it refers to, in a range of these.
  @usableFromInline
  mutating func put(
    _ isStored: Bool, _ node: NodeNumber, _ targets: [NodeNumber], _ range: Range<Int>,
    _ commit: inout Commit
  ) {
    setStored(node, isStored)
    let former = graph.connect(node, to: targets, in: range)
    if !former.isEmpty {
      referencesEnded(former.count)
      commit.loose += former
    }
    if !isStored { commit.loose.append(node) }
    if commit.isObserved { commit.changed.append(node) }
  }

  /// Whether what a source brings is admitted: nothing was written to the entity since the token was
  /// drawn, and somebody still waits for it.
  @inlinable
  mutating func admits<E>(_ token: FillToken, for reference: Reference<E>) -> Bool {
    guard token.revision > clearedAt else { return false }
    let table = table(E.self)
    return table.order.admit(token, for: reference.id, over: table.written(reference.id))
  }

  /// Forgets what means nothing to anyone any more.
  @usableFromInline
  mutating func finish(_ commit: inout Commit) {
    isReferring = false
    if !forgettable.isEmpty {
      commit.loose += forgettable
      forgettable = []
    }
    for node in commit.loose {
      if let released = forget(node) { commit.released.append(released) }
    }
    commit.loose = []
    if !collection.isCollecting { shrink() }
  }

  /// Lets room be looked for again, since entities may have gone out of use with so many references.
  ///
  /// At once where that is cheap; in a large store when so many have gone that it costs no more than
  /// their removal did.
  private mutating func referencesEnded(_ count: Int) {
    collection.crowd = storedCount <= Self.smallCount ? 0 : collection.crowd - 8 * count
  }

  private static var smallCount: Int { 1_024 }
}

/// What one commit does, step by step.
@usableFromInline
struct Commit: Sendable {
  @usableFromInline let revision = Revision.next()
  @usableFromInline let now: Int64

  /// Whether only those are told who keep a copy of what is stored.
  @usableFromInline let isSilent: Bool

  /// Whether there are observers who may have to be told.
  @usableFromInline let isObserved: Bool

  /// What has changed, where that is observed.
  @usableFromInline var changed: [NodeNumber] = []

  /// What may not be known by anyone any more.
  @usableFromInline var loose: [NodeNumber] = []

  /// Who is to be told of the types that were touched.
  @usableFromInline var notices: [Notice] = []

  /// What is to be released after the unlock.
  @usableFromInline var released: [any Sendable] = []

  @usableFromInline
  init(now: Int64, isSilent: Bool = false, isObserved: Bool = false) {
    self.now = now
    self.isSilent = isSilent
    self.isObserved = isObserved
  }
}
