import MillpondSignals

extension CacheMonitor {
  /// The statistics in the text format of Prometheus, for an endpoint that it scrapes.
  ///
  ///     millpond_gets_total{layer="disk",outcome="hit"} 170
  ///     millpond_layer_seconds_bucket{layer="disk",le="0.001"} 164
  ///
  /// Counters of gets by their outcome, of flights, joins, and what could not be stored; and a
  /// histogram of the times of each layer, where they were measured. The counters begin at zero
  /// after ``reset()``, as after a start of the process. A monitor that is active
  /// ``Activity/whileObserved`` has counted nothing otherwise.
  ///
  /// - Complexity: O(*n*) in the layers.
  /// - Source: the Prometheus text-based format, version 0.0.4.
  public var prometheusText: String {
    Self.prometheusText(of: statistics)
  }

  package static func prometheusText(of statistics: [String: CacheStatistics]) -> String {
    let layers = statistics.sorted { $0.key < $1.key }.map { (label: $0.key, counts: $0.value) }
    var text = MetricsText()
    text.begin("millpond_gets_total", "counter", "Gets of a layer by their outcome.")
    for layer in layers {
      for (outcome, count) in layer.counts.outcomes {
        text.add("millpond_gets_total", [("layer", layer.label), ("outcome", outcome)], "\(count)")
      }
    }
    for counter in MetricsText.counters {
      text.begin(counter.name, "counter", counter.help)
      for layer in layers {
        text.add(counter.name, [("layer", layer.label)], "\(counter.count(layer.counts))")
      }
    }
    text.begin("millpond_layer_seconds", "histogram", "Times of the answers of a layer.")
    for layer in layers where layer.counts.times.count > 0 {
      text.add("millpond_layer_seconds", layer.counts.times, layer: layer.label)
    }
    return text.text
  }
}

extension Source {
  /// The statistics of the monitors in this composition, the sizes of its layers, and the state of
  /// their servers, in the text format of Prometheus.
  ///
  ///     millpond_entries{layer="memory"} 812
  ///     millpond_redis_ready{server="127.0.0.1:6379"} 1
  ///
  /// The statistics are those of ``CacheMonitor/prometheusText``; a layer that several monitors watch
  /// is counted together. The format has each metric once, so the texts of several compositions
  /// are not to be joined: they are several endpoints, or have one monitor and its text.
  ///
  /// - Complexity: O(*n*) in the layers, with a lock of each.
  public var prometheusText: String { topology(for: nil).prometheusText }
}

extension Topology {
  /// The statistics, sizes and servers in the text format of Prometheus.
  package var prometheusText: String {
    let statistics = observedMonitors.reduce(into: [:]) { all, monitor in
      all.merge(monitor.statistics, uniquingKeysWith: +)
    }
    var servers = MetricsText()
    for (figure, values) in serverFigures {
      servers.begin(figure.name, figure.isCounter ? "counter" : "gauge", figure.help)
      for (server, value) in values {
        let isWhole = value == value.rounded() && abs(value) < 1e15
        servers.add(figure.name, [("server", server)], isWhole ? "\(Int(value))" : "\(value)")
      }
    }
    return CacheMonitor.prometheusText(of: statistics) + sizes.prometheusText + servers.text
  }

  /// The monitors of the composition, each once; not those within a monitored part, of which the
  /// outer monitor hears everything.
  package var observedMonitors: [CacheMonitor] {
    if let monitor { return [monitor] }
    return parts.flatMap(\.observedMonitors).reduce(into: []) { all, monitor in
      if !all.contains(where: { $0 === monitor }) { all.append(monitor) }
    }
  }
}

extension Dictionary<String, LayerSize> {
  /// The sizes of layers in the text format of Prometheus.
  fileprivate var prometheusText: String {
    let layers = sorted { $0.key < $1.key }
    var text = MetricsText()
    text.begin("millpond_entries", "gauge", "Values that a layer has.")
    for (label, size) in layers {
      text.add("millpond_entries", [("layer", label)], "\(size.count)")
    }
    text.begin("millpond_cost", "gauge", "Cost of the values of a layer, in the unit of its limit.")
    for (label, size) in layers {
      if let cost = size.cost { text.add("millpond_cost", [("layer", label)], "\(cost)") }
    }
    return text.text
  }
}

/// Lines of the format.
private struct MetricsText {
  private(set) var text = ""

  static var counters: [(name: String, help: String, count: (CacheStatistics) -> Int)] {
    [
      ("millpond_flights_total", "Flights that were started.", \.flights),
      ("millpond_joins_total", "Gets that joined a flight.", \.joins),
      ("millpond_failed_fills_total", "Values that could not be stored.", \.failedFills),
      ("millpond_failed_writes_total", "Writes that failed.", \.failedWrites),
    ]
  }

  /// The bounds of the buckets in nanoseconds, with their text in seconds.
  private static var bounds: [(nanoseconds: Int, text: String)] {
    [
      (10_000, "0.00001"), (100_000, "0.0001"), (1_000_000, "0.001"), (5_000_000, "0.005"),
      (10_000_000, "0.01"), (25_000_000, "0.025"), (50_000_000, "0.05"), (100_000_000, "0.1"),
      (250_000_000, "0.25"), (500_000_000, "0.5"), (1_000_000_000, "1"), (2_500_000_000, "2.5"),
      (5_000_000_000, "5"), (10_000_000_000, "10"), (60_000_000_000, "60"),
    ]
  }

  mutating func begin(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  mutating func add(_ name: String, _ labels: [(name: String, value: String)], _ value: String) {
    let labels = labels.map { "\($0.name)=\"\($0.value.escapedLabel)\"" }
    text += "\(name){\(labels.joined(separator: ","))} \(value)\n"
  }

  mutating func add(_ name: String, _ times: Histogram, layer: String) {
    let label = (name: "layer", value: layer)
    for bound in Self.bounds {
      add("\(name)_bucket", [label, ("le", bound.text)], "\(times.count(upTo: bound.nanoseconds))")
    }
    add("\(name)_bucket", [label, ("le", "+Inf")], "\(times.count)")
    add("\(name)_sum", [label], "\(Double(times.sum.nanoseconds) / 1e9)")
    add("\(name)_count", [label], "\(times.count)")
  }
}

extension CacheStatistics {
  /// The gets by their outcome, each in one of them.
  fileprivate var outcomes: [(String, Int)] {
    [
      ("hit", hits), ("miss", misses - tooOld - undecodable), ("too_old", tooOld),
      ("undecodable", undecodable), ("revalidated", revalidations), ("failed", failures),
      ("refused", refusals),
    ]
  }
}

extension String {
  fileprivate var escapedLabel: String {
    reduce(into: "") { text, character in
      switch character {
      case "\\": text += "\\\\"
      case "\"": text += "\\\""
      case "\n", "\r\n": text += "\\n"
      default: text.append(character)
      }
    }
  }
}
