public import MillpondSignals

/// The permission to store the answer of a lower layer, taken before that layer is asked.
///
/// A store admits a fill if its key was not written after the token was taken, and if the get has
/// neither ended nor been cancelled. Take the token before the lookup in the store itself: a write
/// between the two has to win.
@frozen
public struct FillToken: Sendable {
  @usableFromInline package let revision: Revision
  @usableFromInline let lifetime: Lifetime?

  /// Whether the get is a reload: once its answer is stored, answers to older gets are refused.
  public let isReload: Bool

  /// Whether the value is one that was stored here, and that its origin has confirmed, or that gets
  /// another time to live.
  ///
  /// A store that still has a value with the same validator may keep that, and renew its age and
  /// its time to live only.
  public let isRenewal: Bool

  /// Whether the store is a layer above one that has been given the answer before.
  @usableFromInline package let isOfCopy: Bool

  /// Takes the token of a get that begins now.
  ///
  /// - Parameters:
  ///   - isReload: Whether answers to older gets are refused once this one's is stored.
  ///   - lifetime: The lifetime of the get, or of the flight if several callers share it; it ends
  ///     when no caller waits any more. Nil for a get that cannot be cancelled.
  @inlinable
  public init(isReload: Bool = false, during lifetime: Lifetime? = nil) {
    self.init(.next(), isReload, lifetime)
  }

  @inlinable
  init(
    _ revision: Revision, _ isReload: Bool, _ lifetime: Lifetime?, isRenewal: Bool = false,
    isOfCopy: Bool = false
  ) {
    self.revision = revision
    self.isReload = isReload
    self.isRenewal = isRenewal
    self.isOfCopy = isOfCopy
    self.lifetime = lifetime
  }

  /// A token whose fill is never refused.
  public static var any: FillToken {
    FillToken(.last, false, nil)
  }

  /// Whether the get is over, so that its answer must not be stored.
  @inlinable
  public var isEnded: Bool {
    lifetime?.isEnded ?? false
  }

  /// The token for a layer that takes time to reach a store: an answer that arrived before the get
  /// was over may be stored afterwards.
  public var accepted: FillToken {
    FillToken(
      isEnded ? .none : revision, isReload, nil, isRenewal: isRenewal, isOfCopy: isOfCopy)
  }

  /// The same token, but one that refuses no older gets: to ask whether a fill may begin, or for a
  /// part of an answer.
  package var refusingNone: FillToken {
    FillToken(revision, false, lifetime, isRenewal: isRenewal, isOfCopy: isOfCopy)
  }

  /// The same token, for a layer above one that has been given the answer before.
  @inlinable
  package var ofCopy: FillToken {
    FillToken(revision, isReload, lifetime, isRenewal: isRenewal, isOfCopy: true)
  }

  /// Returns the token for a stored value that stays as it is.
  ///
  /// - Parameter lookup: The moment before the value was looked up, if that is earlier: every later
  ///   write wins, since the value may be from before it.
  @usableFromInline
  func ofRenewal(since lookup: Revision = .last) -> FillToken {
    FillToken(
      min(revision, lookup), isReload, lifetime, isRenewal: true, isOfCopy: isOfCopy)
  }
}
