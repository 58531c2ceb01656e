public import MillpondSignals

/// The permission to store what a lower layer answers, drawn when that layer is asked.
///
/// A store admits a fill if nothing was written to its key since the token was drawn, and if the run
/// that asked has neither ended nor been given up. Draw it before the store itself is looked up: a
/// write that comes between the two has to win.
public struct FillToken: Sendable {
  @usableFromInline package let revision: Revision
  @usableFromInline let lifetime: Lifetime?

  /// Whether the question was a reload: once its answer is stored, answers to older questions come
  /// too late.
  public let isReload: Bool

  /// Draws the token of a question that is asked now.
  ///
  /// - Parameters:
  ///   - isReload: Whether answers to older questions come too late after the answer to this one.
  ///   - lifetime: That of the run that asks, which ends when nobody waits for it any more. Where
  ///     several share the run, it is that of the run. Nil for a question that nobody can give up.
  @inlinable
  public init(isReload: Bool = false, during lifetime: Lifetime? = nil) {
    self.init(.next(), isReload, lifetime)
  }

  @inlinable
  init(_ revision: Revision, _ isReload: Bool, _ lifetime: Lifetime?) {
    self.revision = revision
    self.isReload = isReload
    self.lifetime = lifetime
  }

  /// A token by which no fill is refused.
  public static var any: FillToken {
    FillToken(.last, false, nil)
  }

  /// Whether the run that asked is over, so that nothing is to be stored for it.
  @inlinable
  public var isEnded: Bool {
    lifetime?.isEnded ?? false
  }

  /// The token for a layer that needs time before the value reaches a store: what has come while the
  /// run was not over may be stored when it is.
  public var accepted: FillToken {
    FillToken(isEnded ? .none : revision, isReload, nil)
  }
}
