/// A behaviour that `HTTPSource` needs of a transport.
public enum TransportLaw: Sendable, Hashable, CaseIterable {
  /// Nothing is sent before the signal is subscribed to, and each subscription sends once.
  case laziness

  /// An answer is one final head, then the bytes of its body in order, then the completion.
  case parts

  /// Every final status is passed on as a head, also that of a refusal, and is no failure.
  case statuses

  /// Fields and credentials arrive at the origin, and the fields of the answer at the subscriber.
  case fields

  /// A compressed body arrives decompressed, with its `Content-Encoding` in the head.
  case encoding

  /// The method arrives as it is, and the answer to HEAD has no body.
  case methods

  /// A body in memory, of a file or of a stream arrives whole, with its length if that is known.
  case bodies

  /// The sent bytes of a body are reported before the head, never fewer than before.
  case progress

  /// A body that can't be sent fails the request, and the origin receives no complete request.
  case brokenBodies

  /// Redirects are followed by the rules of RFC 9110 §15.4: at most 20, only to `http` and `https`,
  /// and with the body where that stays.
  case redirects

  /// Credentials reach only the origins that they are for, and the head of another origin's answer
  /// is marked.
  case credentials

  /// A connection that is refused or lost, and a body that ends early, fail the request.
  case failures

  /// The end of a subscription ends the transfer, and nothing is delivered after it.
  case cancellation

  /// A request that is not idempotent is not sent twice, however the first sending ends.
  case repetition

  /// An answer does not depend on earlier ones: no cookies, no cache.
  case independence

  /// Requests at the same time are each answered with their own answer.
  case concurrency
}
