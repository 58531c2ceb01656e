/// A break of the signal contract that a ``Recorder`` has seen.
public enum Violation: Sendable, Hashable, CustomStringConvertible {
  /// An event was delivered while another one still was.
  case overlap(event: String)

  /// An event came after the terminal one.
  case afterEnd(event: String)

  /// What happened.
  public var description: String {
    switch self {
    case .overlap(let event): "\(event) was delivered while another event was"
    case .afterEnd(let event): "\(event) came after the end"
    }
  }
}
