/// The rows about the network.
struct NetworkFamily: RowFamily {
  static let name = "network"
  static let title = "Network"

  static let help = """
    Usage: millpond-bench network [NAME...] [--quick] [--json] [--list]

    Compares HTTPSource with a bare URLSession and its delegate, in turns, against an origin in the
    same process: the processor time of a request, the throughput of a body, the time from a
    disposal to the start of the next get and to the end of the connection at the origin, and the
    memory that a large body takes. Prints the median of several repetitions. A NAME such as
    network-cancel selects the rows whose names begin with it; without one, all rows run, which
    takes about a minute and, for a moment, 1 GB of disk space.

      --quick      few repetitions and a tenth of the bytes: checks the sums, the figures mean little
      --json       one JSON document instead of the table
      --list       prints the names of the rows, and what they measure
      --help, -h   this text

    Exit code 0, whether or not targets are met; 1 if a sum was wrong; 2 for bad arguments.
    """

  static var allRows: [NetworkRow] { NetworkRow.all }

  private let effort: NetworkEffort

  init(_ options: Options) {
    effort = options.isQuick ? .quick : .full
  }

  func table(for rows: [NetworkRow]) -> NetworkTable { NetworkTable(for: rows) }

  func measure(_ rows: [NetworkRow], _ report: (NetworkMeasurement) -> Void) throws {
    for row in rows { report(NetworkMeasurement(row, try row.measure(effort))) }
  }
}

extension NetworkRow: NamedRow {}
extension NetworkMeasurement: RowLine {
  var multiple: Double? { ours.flatMap { ours in bare.map { ours / $0 } } }
}
