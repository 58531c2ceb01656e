/// A decision of an HTTP cache, with its reason.
///
///     let decision = rules.decision(for: request, stored: response, at: .now)
///     print(decision)  // "validate: it is stale (RFC 9111 §4.2)"
public struct HTTPCacheDecision: Sendable, Hashable {
  /// The thing to do.
  public enum Action: String, Sendable, Hashable, CaseIterable {
    /// Answer with the stored response.
    case answer

    /// Answer with the stored response, and ask the origin for a newer one meanwhile.
    case answerAndRefresh = "answer and refresh"

    /// Answer with 304: the caller has what is stored.
    case answerNotModified = "answer not modified"

    /// Answer with 504: the caller accepts nothing from the origin, and nothing stored fits.
    case refuse

    /// Ask the origin whether the stored response is still current.
    case validate

    /// Ask the origin for the rest of a stored response that broke off.
    case complete

    /// Send the request to the origin as it is.
    case forward

    /// Store the response.
    case store

    /// Pass the response on without storing it.
    case pass
  }

  /// The thing to do.
  public let action: Action

  /// The rule that decided.
  public let reason: HTTPCacheReason

  /// The age of the stored response; nil without one, or if the clock has stepped back since.
  public let age: Duration?

  /// The time for which the stored response is still fresh, negative if it is stale; nil without
  /// one.
  public let freshFor: Duration?

  init(_ action: Action, _ reason: HTTPCacheReason, age: Duration? = nil, freshFor: Duration? = nil)
  {
    self.action = action
    self.reason = reason
    self.age = age
    self.freshFor = freshFor
  }

  /// Whether the stored response is the answer, without the origin.
  public var isAnswer: Bool {
    switch action {
    case .answer, .answerAndRefresh, .answerNotModified: true
    case .refuse, .validate, .complete, .forward, .store, .pass: false
    }
  }
}

extension HTTPCacheDecision: CustomStringConvertible {
  /// A single line for logs: the action, and the reason with its section.
  public var description: String { "\(action.rawValue): \(reason)" }
}
