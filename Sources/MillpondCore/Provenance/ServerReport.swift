/// The state of the client of a server, for the page of an inspector and for Prometheus.
///
/// Layers that share a client report the same.
package struct ServerReport: Sendable {
  /// A number, with the name and the text under which Prometheus knows it.
  package struct Figure: Sendable {
    package let name: String
    package let help: String

    /// Whether it only grows.
    package let isCounter: Bool
    package let value: Double

    package init(_ name: String, _ help: String, isCounter: Bool = true, _ value: Double) {
      (self.name, self.help, self.isCounter, self.value) = (name, help, isCounter, value)
    }
  }

  /// The client.
  package let id: ObjectIdentifier

  /// The place of the server, without secrets.
  package let address: String

  /// The state in one line.
  package let line: String
  package let figures: [Figure]

  package init(of client: AnyObject, at address: String, _ line: String, _ figures: [Figure]) {
    id = ObjectIdentifier(client)
    self.address = address
    self.line = line
    self.figures = figures
  }
}

extension Topology {
  /// The report of each client of a server, once; the figures of several clients of one server are
  /// added.
  var serverFigures: [(figure: ServerReport.Figure, values: [(server: String, value: Double)])] {
    var (seen, values) = (Set<ObjectIdentifier>(), [String: [String: Double]]())
    var figures: [ServerReport.Figure] = []
    for report in allParts.compactMap({ $0.server?() }) where seen.insert(report.id).inserted {
      for figure in report.figures {
        if values[figure.name] == nil { figures.append(figure) }
        values[figure.name, default: [:]][report.address, default: 0] += figure.value
      }
    }
    return figures.map { figure in
      let ofServers = (values[figure.name] ?? [:]).sorted { $0.key < $1.key }
      return (figure, ofServers.map { (server: $0.key, value: $0.value) })
    }
  }
}
