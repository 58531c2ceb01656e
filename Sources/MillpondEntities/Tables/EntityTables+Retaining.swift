extension EntityTables {
  /// Keeps an entity in use until it is released as often as it was retained.
  @inlinable
  mutating func retain<E: Identifiable & Sendable>(
    _ id: E.ID, in type: E.Type
  ) -> NodeNumber where E.ID: Sendable {
    let node = table(type).node(of: id, in: &graph)
    collection.retains[node, default: 0] += 1
    graph.nodes[Int(node)].isRetained = true
    collection.arrive(node)
    return node
  }

  /// Releases an entity once; gives what is to be released after the unlock.
  @usableFromInline
  mutating func release(_ node: NodeNumber, _ now: Int64) -> (any Sendable)? {
    guard let count = collection.retains[node] else { return nil }
    touch(node, now)
    collection.retains[node] = count > 1 ? count - 1 : nil
    if count > 1 { return nil }
    graph.nodes[Int(node)].isRetained = false
    collection.depart()
    return forget(node)
  }
}
