/// An origin of traces, read one at a time because they are long.
struct TraceSource {
  let name: String

  /// Whether the trace knows sizes.
  let isSized: Bool

  let trace: () throws(TraceError) -> Trace

  init(_ file: TraceFile) {
    name = file.name
    isSized = file.isSized
    trace = { () throws(TraceError) in try file.read() }
  }

  init(_ workload: Workload) {
    name = workload.name
    isSized = false
    trace = { workload.trace() }
  }
}
