/// What a store had been told when it was asked, so that it can tell later whether a fill for that
/// question comes too late.
public struct Mark: Sendable {
  @usableFromInline indirect enum Content: Sendable {
    case any
    case told(Revision)
    case pair(Content, Content)
  }

  @usableFromInline let content: Content

  /// Whether the question was a reload: then what older questions bring comes too late, as after a
  /// telling, once the fill is in.
  public let isReload: Bool

  /// A mark by which no fill is refused.
  public static var any: Mark { Mark(content: .any, isReload: false) }

  /// The mark of a store, whose last telling that could concern the key was `revision`.
  public static func told(_ revision: Revision) -> Mark {
    Mark(content: .told(revision), isReload: false)
  }

  /// Whether a fill with this mark comes in time for a store that was last told `revision`.
  public func admits(_ revision: Revision) -> Bool {
    guard case .told(let told) = content else { return true }
    return told == revision
  }

  /// The same mark, of a question that is asked with `lookup`.
  @usableFromInline
  package func asked(with lookup: Lookup) -> Mark {
    Mark(content: content, isReload: lookup.freshness == .reload)
  }

  /// The marks of two layers.
  @usableFromInline
  package static func pair(_ upper: Mark, _ lower: Mark) -> Mark {
    Mark(content: .pair(upper.content, lower.content), isReload: false)
  }

  @usableFromInline
  package var upper: Mark {
    if case .pair(let upper, _) = content { Mark(content: upper, isReload: isReload) } else { self }
  }

  @usableFromInline
  package var lower: Mark {
    if case .pair(_, let lower) = content { Mark(content: lower, isReload: isReload) } else { self }
  }
}
