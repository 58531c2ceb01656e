/// The options of the command line after `hit-ratio`.
struct HitRatioOptions {
  /// The folder of traces; nil for those that are made up.
  var traces: String?

  /// The file for a picture; nil for none.
  var picture: String?

  var isJSON = false
  var isQuick = false
  var wantsHelp = false

  static let help = """
    Usage: millpond-bench hit-ratio [--traces DIR] [--quick] [--json] [--svg FILE]

    Replays traces of what was asked of caches, and prints how often MemoryCache had the answer,
    beside a cache that drops what is least recently used (LRU), and beside the optimum: what would
    have been kept by one that knows the future, and keeps only what is worth it.

    Each trace is replayed at capacities that are a share of its footprint: of its different keys.
    Where it knows sizes, two more groups of lines have the capacity in bytes, a share of all its
    different values' sizes together: the hits, and the bytes of the hits, each in percent. What
    the optimum is there isn't known.

    The targets, for the mean and for the worst, are for traces of real use without sizes.

      --traces DIR  the traces in DIR and in the folders there, one a file: NAME.u64 has keys of 8
                    bytes, NAME.u64u32 has keys and sizes of 4 bytes in turn, all little-endian and
                    nothing else; with .xz after that, the command xz is needed to read it.
                    Without this, six patterns are made up, the same in every run.
      --quick       short patterns, and two capacities: checks the code, the figures mean little
      --json        one JSON document instead of the table
      --svg FILE    also draws the ratios into FILE, a panel for each trace
      --help, -h    this text

    Exit code 0, whether or not targets are met; 1 if anybody surpassed the optimum; 2 for bad
    arguments, traces that can't be read, or a FILE that can't be written, which is found out before
    anything is measured.
    """

  /// - Throws: ``OptionsError`` for what it doesn't know.
  init(_ arguments: some Sequence<String>) throws(OptionsError) {
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      switch argument {
      case "--quick": isQuick = true
      case "--json": isJSON = true
      case "--traces": traces = try rest.value(of: argument, "a folder")
      case "--svg": picture = try rest.value(of: argument, "a file")
      case "--help", "-h": wantsHelp = true
      case let option where option.hasPrefix("-"): throw .unknownOption(option)
      case let name: throw .unexpected(name)
      }
    }
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
