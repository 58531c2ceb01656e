/// A request and its outcome so far.
public struct Exchange: Sendable {
  /// The request.
  public let request: Request
  /// The outcome so far.
  public internal(set) var outcome: RequestOutcome
}
