import MillpondCore
import MillpondSignals

extension Snapshot {
  /// Reads the state of a composition.
  ///
  /// Calls the composition, and the descriptions of keys and errors.
  init(
    of source: InspectedSource, _ topology: Topology, _ news: ActivityLog.News, isMonitored: Bool,
    at now: ContinuousClock.Instant
  ) {
    let allowsTrimming = source.permissions.contains(.trimming)
    var reader = PartReader(statistics: news.statistics, allowsTrimming: allowsTrimming)
    title = source.title.shortened(to: 200)
    permissions = source.permissions.map(\.rawValue).sorted()
    self.isMonitored = isMonitored
    part = reader.state(of: topology, id: "0")
    flightCount = reader.flights.count
    flights = reader.flights.sorted { $0.record.age > $1.record.age }.prefix(Self.flightLimit)
      .map { FlightState($0.record, in: $0.label) }
    gets = news.entries.map { GetState($0, at: now) }
    skipped = news.skipped
    getCount = news.count
  }
}

/// A walk through a composition, which collects its flights.
private struct PartReader {
  let statistics: [String: CacheStatistics]
  let allowsTrimming: Bool
  var flights: [(record: FlightRecord, label: String)] = []

  mutating func state(of topology: Topology, id: String) -> PartState {
    let chain = topology.chain
    let label = topology.label.shortened(to: 100)
    // Those of a wrapper around several layers belong to none of these.
    let isGroup = !topology.partsBelow.isEmpty
    let own = chain.flatMap { part in
      let label = (isGroup ? part.name ?? part.title : label).shortened(to: 100)
      return (part.flights?() ?? []).map { (record: $0, label: label) }
    }
    flights += own
    let size = chain.last?.size?()
    return PartState(
      id: id, role: chain.last?.role.word ?? "", label: label,
      titles: chain.map { $0.title.shortened(to: 100) }, count: size?.count, cost: size?.cost,
      counters: (chain.last?.counters?()).map(CountersState.init),
      server: chain.last?.server?().line.withoutSecrets.shortened(to: 500),
      answers: chain.compactMap { statistics[$0.label] }.first.map(AnswersState.init),
      flightCount: own.count, canTrim: allowsTrimming && chain.last?.trim != nil,
      parts: topology.partsBelow.enumerated().map { state(of: $1, id: "\(id).\($0)") })
  }
}

extension Topology {
  /// Returns the part with an id of a ``PartState``; nil if there is none.
  func part(_ id: String) -> Topology? {
    let numbers = id.split(separator: ".").map { Int($0) }
    guard numbers.first == 0 else { return nil }
    var part: Topology? = self
    for number in numbers.dropFirst() {
      guard let number, let below = part?.partsBelow, below.indices.contains(number) else {
        return nil
      }
      part = below[number]
    }
    return part?.chain.last
  }
}

extension Topology.Role {
  fileprivate var word: String {
    switch self {
    case .store: "store"
    case .origin: "origin"
    case .wrapper: "wrapper"
    case .layers: "layers"
    case .choice: "choice"
    }
  }
}

extension CountersState {
  fileprivate init(_ counters: StoreCounters) {
    hits = counters.hits
    misses = counters.misses
    insertions = counters.insertions
    rejections = counters.rejections
    evictions = counters.evictions
    expirations = counters.expirations
    countLimit = counters.countLimit
    costLimit = counters.costLimit
    isInBytes = counters.isInBytes
  }
}

extension AnswersState {
  fileprivate init(_ statistics: CacheStatistics) {
    hits = statistics.hits
    misses = statistics.misses
    failures = statistics.failures
    refusals = statistics.refusals
    joins = statistics.joins
    let times = statistics.times
    median = times.count == 0 ? nil : times.quantile(0.5).brief
    slow = times.count == 0 ? nil : times.quantile(0.99).brief
  }
}

extension FlightState {
  fileprivate init(_ record: FlightRecord, in layer: String) {
    let text = KeyText(record.key)
    key = text.shown
    isWhole = text.isWhole
    self.layer = layer
    age = record.age.brief
    callers = record.callers
    priority = "\(record.priority)"
    place = record.place?.shortened(to: 300)
  }
}

extension GetState {
  fileprivate init(_ entry: RecentGets.Entry, at now: ContinuousClock.Instant) {
    let record = entry.record
    let text = record.key.map { KeyText($0) }
    number = entry.number
    key = text?.shown
    isWhole = text?.isWhole ?? false
    ago = Int(max(0, entry.time.duration(to: now).seconds) * 1_000)
    steps = record.steps.map {
      Step(layer: $0.layer.shortened(to: 100), words: $0.words, tone: $0.tone)
    }
    let time = record.duration.map { " after \($0.brief)" } ?? ""
    switch record.end {
    case .value: (end, tone) = (record.duration == nil ? "" : "value\(time)", "hit")
    case .miss: (end, tone) = ("no value\(time)", "miss")
    case .failed(let error): (end, tone) = ("failed\(time): \(error.words)", "failure")
    case .left: (end, tone) = ("left\(time)", "flight")
    }
  }
}
