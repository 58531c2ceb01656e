/// The outcome of a request.
public enum RequestOutcome: Sendable, Equatable {
  /// The handler has not returned, or the response is delayed, held or being sent.
  case pending
  /// All bytes were handed to the system, possibly before the client has read them.
  ///
  /// A script is served when its last step is done, even if that was a close or a reset.
  case served
  /// The client closed the connection, or its sending direction, before all bytes were sent.
  ///
  /// In a script, every byte counts as a body byte.
  case clientClosed(bodyBytesSent: Int)
  /// The server was stopped before all bytes were sent.
  case stopped
}
