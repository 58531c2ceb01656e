/// What became of a request.
public enum Outcome: Sendable, Equatable {
  /// The handler has not returned, or the response is delayed, held or on its way.
  case pending
  /// Everything was sent: given to the system, which is before the client has read it.
  ///
  /// A script is served when its last step is done, also if that was a close or a reset.
  case served
  /// The client closed the connection, or its writing half, before everything was sent.
  ///
  /// Of a script every byte counts as a byte of the body.
  case clientClosed(bodyBytesSent: Int)
  /// The server was stopped before everything was sent.
  case stopped
}
