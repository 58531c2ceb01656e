public import MillpondSignals

/// A description of a composition: a tree of layers and wrappers.
///
/// Made for a key, it also contains what is known of that key without a get.
public struct Topology: Sendable {
  /// The roles of parts in a composition.
  public enum Role: Sendable, Hashable {
    /// The part stores values.
    case store

    /// The part gets values from elsewhere, and stores none.
    case origin

    /// The part changes how its only part is asked or answers.
    case wrapper

    /// The part asks its parts in turn, until one has a value.
    case layers

    /// The part asks one of its parts, chosen by the key.
    case choice
  }

  /// The role of this part.
  public let role: Role

  /// A short description: `MemoryCache`, `limited to 6`.
  public let title: String

  /// The name given by ``Source/named(_:)``.
  public private(set) var name: String?

  /// The parts of this part, in the order in which they are asked.
  public let parts: [Topology]

  /// Whether a value is stored for the key; nil if only a get could tell.
  public let holds: Bool?

  /// The flight that a get of the key would join.
  public let flight: FlightRecord?

  /// Whether the part reports its own answers, though it has no name.
  let isReported: Bool

  /// Returns the number and cost of the stored values.
  package let size: (@Sendable () -> LayerSize)?

  /// Makes earlier writes to this part outlive the process.
  private(set) var flush: (@Sendable (Durability) -> Signal<Void>)?

  /// Returns the flights of this part.
  package let flights: (@Sendable () -> [FlightRecord])?

  /// Refuses new work, and completes when the running work has ended or was cancelled at the
  /// deadline.
  let stop: (@Sendable (Deadline) -> Signal<Void>)?

  /// Releases files and the like after all writes.
  let close: (@Sendable () -> Signal<Void>)?

  /// Makes every stored value of this part stale.
  let markAllStale: (@Sendable () -> Void)?

  /// Returns the counters of a store, and the limits of its size.
  package private(set) var counters: (@Sendable () -> StoreCounters)?

  /// Evicts values until no more than this share is left.
  package private(set) var trim: (@Sendable (Double) -> Void)?

  /// Returns what is known of the server behind a store.
  package private(set) var server: (@Sendable () -> ServerReport)?

  /// Returns the time until a circuit lets the next attempt through; nil while it is closed.
  private(set) var openFor: (@Sendable () -> Duration?)?

  /// The monitor of the gets that are made through this part.
  package let monitor: CacheMonitor?

  /// Whether no get finds here what was written: writes pass the stores by, or gets do.
  private(set) var findsNoWrites = false

  /// The scopes whose end removes what this part stores.
  private(set) var scopes: [CacheScope] = []

  /// Creates a part without parts of its own.
  ///
  /// - Parameters:
  ///   - role: The role of the part.
  ///   - title: A short description.
  ///   - holds: Whether a value is stored for the key, if that is known immediately.
  ///   - size: Returns the number and cost of the stored values; called at any time.
  ///   - flush: Makes earlier writes to this part outlive the process, for ``Source/flush(_:)->_``.
  ///   - close: Releases files and the like after all writes, for ``Source/shutDown(deadline:)->_``; a
  ///     further call has the same outcome.
  public init(
    _ role: Role, _ title: String, holds: Bool? = nil,
    size: (@Sendable () -> LayerSize)? = nil,
    flush: (@Sendable (Durability) -> Signal<Void>)? = nil,
    close: (@Sendable () -> Signal<Void>)? = nil
  ) {
    self.init(
      role, title, parts: [], holds: holds, size: size, flush: flush, close: close)
  }

  /// Creates a part that consists of others.
  ///
  /// - Parameters:
  ///   - role: The role of the part.
  ///   - title: The name by which diagrams and events call it.
  ///   - part: The first part that it consists of.
  ///   - others: The other parts, in the order in which they are asked.
  public init(_ role: Role, _ title: String, of part: Topology, _ others: Topology...) {
    self.init(role, title, parts: [part] + others)
  }

  package init(
    _ role: Role, _ title: String, name: String? = nil, parts: [Topology], holds: Bool? = nil,
    flight: FlightRecord? = nil, isReported: Bool = false, size: (@Sendable () -> LayerSize)? = nil,
    flush: (@Sendable (Durability) -> Signal<Void>)? = nil,
    flights: (@Sendable () -> [FlightRecord])? = nil,
    stop: (@Sendable (Deadline) -> Signal<Void>)? = nil,
    close: (@Sendable () -> Signal<Void>)? = nil, markAllStale: (@Sendable () -> Void)? = nil,
    monitor: CacheMonitor? = nil
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
    self.stop = stop
    self.close = close
    self.markAllStale = markAllStale
    self.monitor = monitor
  }
}

extension Topology {
  /// Returns a copy with the given name.
  package func named(_ name: String) -> Topology {
    var copy = self
    copy.name = name
    return copy
  }

  /// Returns a copy that belongs to these scopes.
  func belonging(to scopes: [CacheScope]) -> Topology {
    var copy = self
    copy.scopes = scopes
    return copy
  }

  /// The scopes to which a part belongs, each once.
  var allScopes: [CacheScope] {
    allParts.flatMap(\.scopes).reduce(into: []) { known, scope in
      if !known.contains(where: { $0 === scope }) { known.append(scope) }
    }
  }

  /// Returns a copy with a circuit, of which `openFor` tells how long it stays open.
  func breaking(_ openFor: @escaping @Sendable () -> Duration?) -> Topology {
    var copy = self
    copy.openFor = openFor
    return copy
  }

  /// Returns a copy whose `flush` replaces those of its parts.
  package func flushing(_ flush: @escaping @Sendable (Durability) -> Signal<Void>) -> Topology {
    var copy = self
    copy.flush = flush
    return copy
  }

  /// Returns a copy whose counters can be read, and which can be trimmed if `trim` isn't nil.
  package func counting(
    _ counters: @escaping @Sendable () -> StoreCounters, trim: (@Sendable (Double) -> Void)? = nil
  ) -> Topology {
    var copy = self
    copy.counters = counters
    copy.trim = trim
    return copy
  }

  /// Returns a copy that tells about the server behind it.
  package func reporting(_ server: @escaping @Sendable () -> ServerReport) -> Topology {
    var copy = self
    copy.server = server
    return copy
  }

  /// This part, its parts and theirs, each before its own parts.
  package var allParts: [Topology] {
    var (all, rest) = ([Topology](), [self])
    while let part = rest.popLast() {
      all.append(part)
      rest += part.parts.reversed()
    }
    return all
  }

  /// Returns a copy that says that no get finds here what was written.
  func findingNoWrites() -> Topology {
    var copy = self
    copy.findsNoWrites = true
    return copy
  }

  /// Whether gets find here what was written, so that a layer above has a copy of it.
  var storesWrites: Bool {
    !findsNoWrites && (role == .store || parts.contains { $0.storesWrites })
  }

  /// Whether this is an origin, or has one among its parts.
  @usableFromInline var hasOrigin: Bool {
    allParts.contains { $0.role == .origin }
  }

  /// The name in events and errors: the given name, or else the title.
  ///
  /// A wrapper uses the label of its part.
  package var label: String {
    name ?? (role == .wrapper ? parts.first?.label : nil) ?? title
  }

  /// Whether this is a single unnamed layer, whose answers the combinator around it has to report.
  package var isUnnamedLayer: Bool {
    if name != nil || isReported { return false }
    return switch role {
    case .store, .origin: true
    case .wrapper: parts.allSatisfy(\.isUnnamedLayer)
    case .layers, .choice: false
    }
  }

  /// Whether this is a single layer, perhaps with wrappers around it.
  var isOneLayer: Bool {
    parts.isEmpty || (role == .wrapper && parts.count == 1 && parts[0].isOneLayer)
  }

  /// Returns the name of a type without its generic arguments.
  static func title(of type: Any.Type) -> String {
    String("\(type)".prefix { $0 != "<" })
  }
}

/// The amount that a layer stores.
public struct LayerSize: Sendable, Hashable {
  /// The number of values.
  public let count: Int

  /// The cost or the bytes of the values, in the unit of the layer's limit; nil if it has no such
  /// limit.
  public let cost: Int?

  /// Creates a size.
  ///
  /// - Parameters:
  ///   - count: The number of values.
  ///   - cost: Their total cost in bytes; nil if the layer does not know it.
  public init(count: Int, cost: Int? = nil) {
    self.count = count
    self.cost = cost
  }
}

/// The durability that a flush gives to earlier writes.
public enum Durability: Sendable, Hashable {
  /// Handed over to the system: writes survive any end of the process.
  case written

  /// On the device: writes survive a power cut, if the device keeps its promises.
  case synchronized
}

/// The counters of a store since its creation, and the limits of its size.
package struct StoreCounters: Sendable, Hashable {
  package var hits = 0
  package var misses = 0
  package var insertions = 0
  package var rejections = 0
  package var evictions = 0
  package var expirations = 0

  /// The greatest number of values; nil if there is no limit.
  package var countLimit: Int?

  /// The greatest cost of the values together; nil if there is no limit.
  package var costLimit: Int?

  /// Whether the cost is a number of bytes.
  package var isInBytes = false

  package init() {}
}
