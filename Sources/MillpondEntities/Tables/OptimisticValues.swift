import MillpondCore

/// The values of an entity with optimistic writes: the one below them, and the writes above it, in
/// order.
///
/// Each write is kept as changes of what lies below it. So one that is refused takes only its own
/// changes away, and a newer value that a source brings is seen through those that wait.
@usableFromInline
final class OptimisticValues<E: Entity>: Sendable {
  /// A write of an entity, and the value that it makes of the one below.
  struct Layer: Sendable {
    let revision: Revision

    /// Whether its outcome is awaited; if not, it is confirmed, above a write that waits.
    var isWaiting: Bool
    private(set) var changes: [ValueChange<E>]
    var value: E?

    init(_ revision: Revision, isWaiting: Bool, _ change: ValueChange<E>) {
      self.revision = revision
      self.isWaiting = isWaiting
      changes = [change]
    }

    /// Whether it leaves nothing of the value below.
    var isWhole: Bool {
      changes[0].isWhole
    }

    mutating func add(_ change: ValueChange<E>) {
      changes = change.isWhole ? [change] : changes + [change]
      value = change(value)
    }

    func callAsFunction(_ value: E?) -> E? {
      changes.reduce(value) { $1($0) }
    }
  }

  /// The value below all layers.
  let base: E?

  /// The writes, the latest last, of which the first one waits; none if nothing waits any more.
  let layers: [Layer]

  /// The value that is stored if all that wait are refused.
  @usableFromInline let confirmed: E?

  /// Creates the values of an entity without optimistic writes.
  convenience init(_ value: E?) {
    self.init(value, [])
  }

  private init(_ base: E?, _ layers: [Layer]) {
    self.base = base
    self.layers = layers
    confirmed = layers.reduce(base) { $1.isWaiting ? $0 : $1($0) }
  }

  /// The value that readers see.
  var visible: E? {
    layers.last.map(\.value) ?? base
  }

  /// The values that may become visible later.
  var hidden: [E] {
    ([base] + layers.dropLast().map(\.value)).compactMap(\.self)
  }

  /// The revisions of the writes that wait.
  var waiting: some Sequence<Revision> {
    layers.lazy.filter(\.isWaiting).map(\.revision)
  }

  /// Returns the place of a write that waits.
  private func place(of revision: Revision) -> Int? {
    layers.lastIndex { $0.isWaiting && $0.revision == revision }
  }

  /// Returns these layers above another value.
  ///
  /// - Parameters:
  ///   - base: The value below them.
  ///   - layers: The layers; confirmed ones at the bottom become a part of the value below.
  ///   - first: The place of the first layer whose value may be out of date.
  private static func stack(
    _ base: E?, _ layers: [Layer], outdatedFrom first: Int
  ) -> OptimisticValues {
    var layers = layers
    var value = first > 0 ? layers[first - 1].value : base
    for place in first..<layers.count {
      value = layers[place](value)
      layers[place].value = value
    }
    let start = layers.firstIndex(where: \.isWaiting) ?? layers.count
    if start == 0 { return OptimisticValues(base, layers) }
    return OptimisticValues(layers[start - 1].value, Array(layers[start...]))
  }

  // MARK: Writes

  /// Returns the values with an optimistic write above all others; what the same write has done
  /// before is a part of it.
  func adding(_ change: ValueChange<E>, _ revision: Revision) -> OptimisticValues {
    var layers = layers
    guard let place = place(of: revision) else {
      layers.append(Layer(revision, isWaiting: true, change))
      layers[layers.count - 1].value = change(visible)
      return OptimisticValues(base, layers)
    }
    var layer = layers.remove(at: place)
    let isLast = place == layers.count
    layer.add(change)
    layers.append(layer)
    return Self.stack(base, layers, outdatedFrom: isLast ? layers.count : place)
  }

  /// Returns the values with an ordinary write at its place in the order.
  ///
  /// A write that leaves nothing of what lies below it replaces all earlier ones.
  func adding(_ change: ValueChange<E>, confirmedAt revision: Revision) -> OptimisticValues {
    let place = layers.firstIndex { $0.revision > revision } ?? layers.count
    if change.isWhole {
      let below = place > 0 ? layers[place - 1].value : base
      return Self.stack(change(below), Array(layers[place...]), outdatedFrom: 0)
    }
    var layers = layers
    layers.insert(Layer(revision, isWaiting: false, change), at: place)
    return Self.stack(base, layers, outdatedFrom: place)
  }

  /// Returns the values above a newer confirmed one, which contains the writes confirmed so far.
  ///
  /// Those above a waiting write that would hide them stay.
  func rebased(on confirmed: E?) -> OptimisticValues {
    var isHidden = false
    let others = layers.filter { layer in
      if layer.isWaiting, layer.isWhole { isHidden = true }
      return layer.isWaiting || isHidden
    }
    return Self.stack(confirmed, others, outdatedFrom: 0)
  }

  // MARK: Outcomes

  /// Returns the values after the confirmation of a write; nil if it does not wait.
  ///
  /// - Parameters:
  ///   - revision: The revision of the write.
  ///   - answer: The last change, that of the answer.
  func confirming(_ revision: Revision, by answer: ValueChange<E>?) -> OptimisticValues? {
    guard var place = place(of: revision) else { return nil }
    var layers = layers
    layers[place].isWaiting = false
    if let answer { layers[place].add(answer) }
    if layers[place].isWhole {
      layers.removeFirst(place)
      place = 0
    }
    return Self.stack(base, layers, outdatedFrom: answer == nil ? layers.count : place + 1)
  }

  /// Returns the values without a write; nil if it does not wait.
  func refusing(_ revision: Revision) -> OptimisticValues? {
    guard let place = place(of: revision) else { return nil }
    var layers = layers
    layers.remove(at: place)
    return Self.stack(base, layers, outdatedFrom: place)
  }
}

/// The optimistic values of an entity in a table, and the nodes that are retained for them: that of
/// the entity, and those that hidden values refer to.
@usableFromInline
typealias OptimisticRow<E: Entity> = (values: OptimisticValues<E>, nodes: [NodeNumber])
