public import MillpondSignals

/// What a source is made of, for those who look: a tree of layers and of what stands between them.
///
/// With a key it says also what is known of that key, without asking anyone for it.
public struct Layout: Sendable {
  /// What a part of a composition is there for.
  public enum Role: Sendable, Hashable {
    /// Keeps values.
    case store

    /// Gets values from elsewhere, and keeps none.
    case origin

    /// Changes how its only part is asked or answers.
    case wrapper

    /// Asks its parts in turn, until one has a value.
    case layers

    /// Asks one of its parts, by the key.
    case choice
  }

  /// What it is there for.
  public let role: Role

  /// What it is, in a few words: `MemoryCache`, `limited to 6`.
  public let title: String

  /// How it was named by ``Source/named(_:)``.
  public let name: String?

  /// What it is made of, in the order in which the parts are asked.
  public let parts: [Layout]

  /// What it holds of the key that was asked about; nil if that can't be told without asking.
  public let holds: Bool?

  /// The flight that a get of the key would join.
  public let flight: FlightRecord?

  /// Whether it reports by itself what it answers, though it has no name.
  let isReported: Bool

  /// What is kept here, and how much that is.
  let size: (@Sendable () -> LayerSize)?

  /// Makes what was written here outlive the process.
  let flush: (@Sendable (Durability) -> Signal<Void>)?

  /// Which gets are under way here.
  let flights: (@Sendable () -> [FlightRecord])?

  /// A part that does not consist of others.
  ///
  /// - Parameters:
  ///   - role: What it is there for.
  ///   - title: What it is, in a few words.
  ///   - holds: Whether it has the key that was asked about, if that is known at once.
  ///   - size: How much it keeps, to be asked any time.
  ///   - flush: Makes what was written here outlive the process; for ``Source/flush(_:)``.
  public init(
    _ role: Role, _ title: String, holds: Bool? = nil,
    size: (@Sendable () -> LayerSize)? = nil,
    flush: (@Sendable (Durability) -> Signal<Void>)? = nil
  ) {
    self.init(role, title, parts: [], holds: holds, size: size, flush: flush)
  }

  /// A part that consists of others.
  public init(_ role: Role, _ title: String, of part: Layout, _ others: Layout...) {
    self.init(role, title, parts: [part] + others)
  }

  package init(
    _ role: Role, _ title: String, name: String? = nil, parts: [Layout], holds: Bool? = nil,
    flight: FlightRecord? = nil, isReported: Bool = false, size: (@Sendable () -> LayerSize)? = nil,
    flush: (@Sendable (Durability) -> Signal<Void>)? = nil,
    flights: (@Sendable () -> [FlightRecord])? = nil
  ) {
    self.role = role
    self.title = title
    self.name = name
    self.parts = parts
    self.holds = holds
    self.flight = flight
    self.isReported = isReported
    self.size = size
    self.flush = flush
    self.flights = flights
  }
}

extension Layout {
  /// The same, by another name.
  package func named(_ name: String) -> Layout {
    Layout(
      role, title, name: name, parts: parts, holds: holds, flight: flight, isReported: isReported,
      size: size, flush: flush, flights: flights)
  }

  /// The same, with a flush of its own in the place of those of its parts.
  package func flushing(_ flush: @escaping @Sendable (Durability) -> Signal<Void>) -> Layout {
    Layout(
      role, title, name: name, parts: parts, holds: holds, flight: flight, isReported: isReported,
      size: size, flush: flush, flights: flights)
  }

  /// What events and errors call it: its name, or what it is.
  ///
  /// A wrapper is called by what it wraps.
  package var label: String {
    name ?? (role == .wrapper ? parts.first?.label : nil) ?? title
  }

  /// Whether it is one layer that nobody has named, so that whoever puts it in its place has to
  /// report what it says.
  package var isUnnamedLayer: Bool {
    if name != nil || isReported { return false }
    return switch role {
    case .store, .origin: true
    case .wrapper: parts.allSatisfy(\.isUnnamedLayer)
    case .layers, .choice: false
    }
  }

  /// The name of a type without what it is generic over.
  static func title(of type: Any.Type) -> String {
    String("\(type)".prefix { $0 != "<" })
  }
}

/// How much a layer keeps.
public struct LayerSize: Sendable, Hashable {
  /// How many values.
  public let count: Int

  /// What they cost, or their bytes, in the unit of the layer's limit; nil if it has no such limit.
  public let cost: Int?

  /// States how much a layer keeps.
  public init(count: Int, cost: Int? = nil) {
    self.count = count
    self.cost = cost
  }
}
