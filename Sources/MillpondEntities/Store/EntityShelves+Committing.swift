public import MillpondCore
import MillpondSignals

extension EntityShelves {
  /// Carries out a transaction, and leaves in ``notices`` who is to be told.
  @usableFromInline
  mutating func apply(_ parts: [DraftPart], _ commit: inout Commit) {
    for part in parts { part.apply(&self, &commit) }
    if !commit.changed.isEmpty { announce(commit) }
    finish(&commit)
  }

  /// Whether something has to be dropped, and it was not tried in vain of late.
  @usableFromInline
  func isCrowded(_ countLimit: Int) -> Bool {
    storedCount > max(0, countLimit) && storedCount > crowd
  }

  /// Puts a value in its place that is set alone.
  ///
  /// As a transaction of one edit, without all that a commit needs where more is touched.
  ///
  /// - Parameters:
  ///   - known: Where it is, if there is one.
  ///   - others: Gets what else is to be released after the unlock.
  @inlinable
  mutating func put<E>(
    _ value: E, at known: Int32?, _ targets: [NodeNumber], in table: EntityTable<E>,
    now: Int64, _ others: inout [any Sendable]
  ) {
    let node: NodeNumber
    if let known {
      node = table.rows[Int(known)].node
    } else {
      node = table.node(of: value.id, in: &graph)
      setStored(node, true)
    }
    let row = graph.nodes[Int(node)].row
    table.rows[Int(row)].value = value  // the caller has what was there, and releases it
    let loose = graph.connect(node, to: targets)
    if !loose.isEmpty { referencesEnded(loose.count) }
    table.note(row, now, .next())
    let isSeen = !watches.isEmpty && graph.isMarked(node) || !table.listeners.isEmpty
    if isSeen || !loose.isEmpty || !forgettable.isEmpty {
      var commit = Commit(now: now)
      commit.changed.append(node)
      commit.causes.append(AnyReference(value.reference))
      commit.loose = loose
      commit.notices = table.notices(of: [TableEdit(id: value.id, value: value)])
      apply([], &commit)
      others = commit.released
    }
    isReferring = false
  }

  /// Takes what is to be told; nothing if someone is about to tell it who has begun before.
  @usableFromInline
  mutating func takeNotices(isFirst: Bool) -> [Notice] {
    if isFirst, isDelivering { return [] }
    isDelivering = !notices.isEmpty
    defer { notices = [] }
    return notices
  }

  /// Puts a value in its place, or takes it out.
  @inlinable
  mutating func put<E>(
    _ edit: PreparedEdit<E>, _ targets: [NodeNumber], because cause: AnyReference,
    in table: EntityTable<E>, _ commit: inout Commit
  ) {
    let node = table.node(of: edit.edit.id, in: &graph)
    let old = table.replace(graph.nodes[Int(node)].row, by: edit.edit.value)
    if let old { commit.released.append(old) }
    setStored(node, edit.edit.value != nil)
    let former = graph.connect(node, to: targets, in: edit.targets)
    if !former.isEmpty { referencesEnded(former.count) }
    commit.loose += former
    if edit.edit.value == nil { commit.loose.append(node) }
    table.touch(graph.nodes[Int(node)].row, commit.now, commit.revision)
    commit.changed.append(node)
    commit.causes.append(cause)
  }

  /// Whether what a source brings is admitted: nothing was written to the entity since the token was
  /// drawn, and somebody still waits for it.
  @inlinable
  func admits<E>(_ token: FillToken, for reference: Reference<E>) -> Bool {
    guard token.revision > clearedAt else { return false }
    guard let table = table(E.self) else { return !token.isEnded }
    return table.order.admit(token, for: reference.id, over: table.written(reference.id))
  }

  @usableFromInline
  mutating func setStored(_ node: NodeNumber, _ isStored: Bool) {
    if graph.nodes[Int(node)].isStored == isStored { return }
    graph.nodes[Int(node)].isStored = isStored
    storedCount += isStored ? 1 : -1
  }

  /// Leaves the notices of what was touched, and forgets what means nothing to anyone any more.
  @usableFromInline
  mutating func finish(_ commit: inout Commit) {
    notices += commit.notices
    if !commit.notices.isEmpty { notices += commitListeners.values }
    commit.notices = []
    isReferring = false
    for node in commit.loose + forgettable {
      if let released = forget(node) { commit.released.append(released) }
    }
    commit.loose = []
    forgettable = []
    if !isSweeping { shrink() }
  }

  /// Gives memory back where most of it has become vacant.
  ///
  /// Not while the numbers of nodes or rows are in use: the writer does it, at the end.
  mutating func shrink() {
    for table in tables where table.isSparse { table.shrink(&graph) }
    guard graph.isSparse else { return }
    for (number, node) in graph.shrink() { tables[Int(node.table)].move(node.row, to: number) }
  }

  /// Forgets an entity that nobody stores, refers to, observes or retains; gives what is to be
  /// released after the unlock.
  @usableFromInline
  mutating func forget(_ node: NodeNumber) -> (any Sendable)? {
    guard graph.isLoose(node), let (table, row) = table(of: node) else { return nil }
    if isReferring {
      forgettable.append(node)
      return nil
    }
    graph.removeNode(node)
    return table.forget(row)
  }

  /// Notes that an entity is used now, or has been until now.
  @usableFromInline
  func touch(_ node: NodeNumber, _ now: Int64) {
    if let (table, row) = table(of: node) { table.touch(row, now) }
  }

  /// Lets room be looked for again, since entities may have gone out of use with so many references.
  ///
  /// At once where that is cheap; in a large store when so many have gone that it costs no more than
  /// their removal did.
  @usableFromInline
  mutating func referencesEnded(_ count: Int) {
    crowd = storedCount <= Self.smallCount ? 0 : crowd - 8 * count
  }

  @usableFromInline
  static var smallCount: Int { 1_024 }
}

// MARK: - Whom to tell

extension EntityShelves {
  /// Makes the notices of a commit: one for each observer that something has changed for.
  @usableFromInline
  mutating func announce(_ commit: Commit) {
    if watches.isEmpty || commit.isSilent { return }
    var notices: [(number: Int, notice: Notice)] = []
    let found = graph.watched(above: commit.changed)
    let causes = causes(of: commit, for: found)
    for (node, causes) in zip(found, causes) {
      for (number, watch) in watches[node] ?? [:] {
        notices.append((number, watch.notice(graph.nodes[Int(node)].row, causes)))
      }
    }
    notices.sort { $0.number < $1.number }
    self.notices += notices.map(\.notice)
  }

  /// Which of the changes each of `nodes` depends on; where there is only one, all do on that.
  @usableFromInline
  mutating func causes(
    of commit: Commit, for nodes: [NodeNumber]
  ) -> [[AnyReference]] {
    if commit.causes.count == 1 { return nodes.map { _ in commit.causes } }
    let places = Dictionary(
      commit.changed.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { $1 })
    return nodes.map { top in
      var found: [Int] = []
      graph.reached(below: top) { node in
        if let place = places[node] { found.append(place) }
      }
      return found.sorted().map { commit.causes[$0] }
    }
  }
}
