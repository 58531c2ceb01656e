/// A request and what has become of it so far.
public struct Exchange: Sendable {
  /// The request.
  public let request: Request
  /// What has become of it.
  public internal(set) var outcome: Outcome
}
