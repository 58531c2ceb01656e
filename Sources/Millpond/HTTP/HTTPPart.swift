public import Foundation

/// A piece of an answer.
public enum HTTPPart: Sendable {
  /// The head; before any of the body.
  case head(HTTPHead)

  /// The next bytes of the body.
  case body(Data)
}
