/// What a store had been told when it was asked, so that it can tell later whether a fill for that
/// question comes too late.
public struct Mark: Sendable {
  @usableFromInline indirect enum Content: Sendable {
    case any
    case told(Revision)
    case pair(Mark, Mark)
  }

  @usableFromInline let content: Content

  /// A mark by which no fill is refused.
  public static var any: Mark { Mark(content: .any) }

  /// The mark of a store, whose last telling that could concern the key was `revision`.
  public static func told(_ revision: Revision) -> Mark { Mark(content: .told(revision)) }

  /// Whether a fill with this mark comes in time for a store that was last told `revision`.
  public func admits(_ revision: Revision) -> Bool {
    guard case .told(let told) = content else { return true }
    return told == revision
  }

  /// The marks of two layers.
  @usableFromInline
  package static func pair(_ upper: Mark, _ lower: Mark) -> Mark {
    Mark(content: .pair(upper, lower))
  }

  @usableFromInline
  package var upper: Mark {
    if case .pair(let upper, _) = content { upper } else { self }
  }

  @usableFromInline
  package var lower: Mark {
    if case .pair(_, let lower) = content { lower } else { self }
  }
}
