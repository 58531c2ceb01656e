import LocalRedis

/// The rows about a shared server.
struct RedisFamily: RowFamily {
  static let name = "redis"
  static let title = "A shared server"

  static let help = """
    Usage: millpond-bench redis [NAME...] [--quick] [--json] [--list]

    Compares RedisCache with redis-benchmark, with a bare blocking socket and with memory alone, in
    turns, against a server that it starts on this machine, if one is installed. Prints the median
    of several repetitions.

      --quick      few repetitions: checks the sums, the figures mean little
      --json       one JSON document instead of the table
      --list       prints the names of the rows, and what they measure
      --help, -h   this text

    Exit code 0, whether or not targets are met; 1 if a sum was wrong; 2 for bad arguments.
    """

  static let legend = """
    ours: RedisCache. bare: redis-benchmark with one connection and the same pipeline, a blocking
    socket, one that is read by a thread of its own, or memory alone. The
    server runs beside this process, and shares the processors.
    """

  static let allRows =
    [16, 64].map { depth in
      NetworkRow(
        name: "redis-get-1k-x\(depth)",
        summary: "gets of 1 KiB a second on one connection, \(depth) under way",
        unit: "1/s", target: .atLeastShare(0.6),
        measure: { try measureRedisGets($0, depth: depth) })
    } + [
      NetworkRow(
        name: "redis-get-alone",
        summary: "a single get of 1 KiB until its observer has it, beside a blocking socket",
        unit: "µs", target: .atMostTimes(1.3), measure: measureRedisLatency),
      NetworkRow(
        name: "redis-get-awaited",
        summary: "the same until a waiting thread has it, beside a socket that another one reads",
        unit: "µs", target: .atMostTimes(1.3), measure: measureRedisAwaiting),
      NetworkRow(
        name: "redis-memory-hit", summary: "a hit in memory that follows, beside memory alone",
        unit: "ns", target: .atMostTimes(1.1), measure: measureRedisMemory),
    ]

  static var obstacle: String? {
    LocalRedis.program == nil ? "neither redis-server nor valkey-server is installed" : nil
  }

  private let effort: NetworkEffort

  init(_ options: Options) {
    effort = options.isQuick ? .quick : .full
  }

  func table(for rows: [NetworkRow]) -> NetworkTable { NetworkTable(for: rows) }

  func measure(_ rows: [NetworkRow], _ report: (NetworkMeasurement) -> Void) throws {
    for row in rows { report(NetworkMeasurement(row, try row.measure(effort))) }
  }
}
