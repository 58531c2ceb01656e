import MillpondSignals

/// A question to a source whether a stored value is still current, and its answer.
///
/// It travels with the lookup, because a signal can't send an answer without a value: a source that
/// confirms the value completes empty, as for a miss.
@usableFromInline
final class Revalidation: Sendable {
  @usableFromInline let validator: Validator
  private let given = Locked<NotModified?>(nil)

  init(_ validator: Validator) {
    self.validator = validator
  }

  /// Records that the value is still current.
  @usableFromInline
  func confirm(_ answer: NotModified) {
    given.withLock { $0 = answer }
  }

  /// The answer that the value is still current, if it came.
  @usableFromInline
  var answer: NotModified? {
    given.withLock { $0 }
  }
}

/// The answer that a stored value is still current.
@usableFromInline
struct NotModified: Sendable {
  /// The new time to live of the value; nil if it has none of its own.
  let timeToLive: TimeToLive?
}

/// A stored value that is too old for a get, and the question whether it is still current.
@usableFromInline
final class StaleValue<Value: Sendable>: Sendable {
  @usableFromInline let stamped: Stamped<Value>
  @usableFromInline let revalidation: Revalidation
  private let lookedUpAt: Revision

  /// Creates the question; nil if the origin can't answer it, since the value has no validator.
  ///
  /// - Parameters:
  ///   - stamped: The value.
  ///   - lookedUpAt: The moment before it was looked up.
  @usableFromInline
  init?(_ stamped: Stamped<Value>, since lookedUpAt: Revision = .last) {
    guard let validator = stamped.validator, !validator.isEmpty else { return nil }
    self.stamped = stamped
    self.lookedUpAt = lookedUpAt
    revalidation = Revalidation(validator)
  }

  /// Returns the token with which an answer is stored: that of a renewal, if it is one.
  func token(_ token: FillToken) -> FillToken {
    revalidation.answer == nil ? token : token.ofRenewal(since: lookedUpAt)
  }

  /// The value with age zero and its new time to live, once it was confirmed.
  @usableFromInline
  var renewed: Stamped<Value>? {
    revalidation.answer.map { answer in
      Stamped(stamped.value, validator: stamped.validator, timeToLive: answer.timeToLive)
    }
  }
}

extension Signal {
  /// Sends the stored value when the source has confirmed it, in place of its empty end.
  func confirming<Content>(_ stale: StaleValue<Content>?) -> Signal
  where Value == Stamped<Content> {
    guard let stale else { return self }
    return ifNoValue { failure in
      stale.renewed.map { .just($0) } ?? failure.map { .fail($0) } ?? .empty
    }
  }
}
