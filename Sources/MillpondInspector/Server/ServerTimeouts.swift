/// The times of the server.
struct ServerTimeouts: Sendable {
  /// The time between two states of the page.
  var interval = Duration.milliseconds(250)

  /// The time in which a request has to arrive.
  var request = Duration.seconds(10)

  /// The time in which a browser has to take a response, or a state.
  var response = Duration.seconds(10)

  /// The time for which the page waits for the outcome of a removal.
  var outcome = Duration.seconds(2)
}
