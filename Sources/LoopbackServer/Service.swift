/// The handler of a server, and the speed of its answers.
struct Service: Sendable {
  let latency: Duration
  let pace: Pace?
  let handler: @Sendable (Request) -> Response

  /// The steps for each connection, in place of answers.
  var greeting: [Step] = []

  func plan(for request: Request) -> Plan {
    Plan(handler(request), to: request, latency: latency, pace: pace)
  }
}
