/// The options of the command line after `hit-ratio`.
struct HitRatioOptions {
  private let options: Options

  var isJSON: Bool { options.isJSON }
  var isQuick: Bool { options.isQuick }
  var wantsHelp: Bool { options.wantsHelp }

  /// The folder of traces; nil for those that are made up.
  var traces: String? { options["--traces"] }

  static let help = """
    Usage: millpond-bench hit-ratio [--traces DIR] [--quick] [--json]

    Replays traces of cache accesses, and prints the hit ratio of MemoryCache, of a cache that
    drops the least recently used value (LRU), and of the optimum: a cache that knows the future,
    and stores only values that bring hits.

    Each trace is replayed at capacities that are shares of its footprint, the number of its
    different keys. If it knows sizes, two more groups of lines have the capacity in bytes, as a
    share of the sizes of all different values: the hits, and the bytes of the hits, each in
    percent. The optimum of those is unknown.

    The targets, for the mean and for the worst cell, are for traces of real use without sizes.

      --traces DIR  reads the traces in DIR and its subfolders, one in each file: NAME.u64 has keys
                    of 8 bytes, NAME.u64u32 has keys and sizes of 4 bytes in turn, all of them
                    little-endian; a file that ends in .xz needs the command xz. Without this
                    option, six patterns are generated, the same in every run.
      --quick       short patterns, and two capacities: checks the code; the figures mean little
      --json        one JSON document instead of the table
      --help, -h    this text

    Exit code 0, whether or not targets are met; 1 if a cache exceeded the optimum; 2 for bad
    arguments, and for traces that can't be read.
    """

  /// - Throws: ``OptionsError`` for what it doesn't know.
  init(_ arguments: some Sequence<String>) throws(OptionsError) {
    options = try Options(
      arguments, flags: ["--quick", "--json"], valued: ["--traces": "a folder"])
    if let name = options.names.first { throw .unexpected(name) }
  }

  /// The capacities, as shares of a footprint.
  var percents: [Double] {
    isQuick ? [1, 10] : [0.1, 1, 5, 10, 25]
  }

  /// - Throws: ``TraceError`` when the folder has none.
  func sources() throws(TraceError) -> [TraceSource] {
    if let traces { return try TraceFile.all(in: traces).map(TraceSource.init) }
    return Workload.all(length: isQuick ? 20_000 : 400_000).map(TraceSource.init)
  }
}
