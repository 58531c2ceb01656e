/// What a server does with requests: its handler, and how fast it answers.
struct Service: Sendable {
  let latency: Duration
  let pace: Pace?
  let handler: @Sendable (Request) -> Response

  /// What is sent to whoever connects, in place of all answers.
  var greeting: [Step] = []

  func plan(for request: Request) -> Plan {
    Plan(handler(request), to: request, latency: latency, pace: pace)
  }
}
