/// The handler of a server, and the speed of its answers.
struct ServerConfiguration: Sendable {
  let latency: Duration
  let bandwidth: BandwidthLimit?
  let handler: @Sendable (Request) -> Response

  /// The steps for each connection, in place of answers.
  var greeting: [ScriptStep] = []

  func plan(for request: Request) -> ResponsePlan {
    ResponsePlan(handler(request), to: request, latency: latency, bandwidth: bandwidth)
  }
}
