extension Signal {
  /// This signal as a part of a concatenation.
  @inlinable
  var concatenation: SignalParts<Value> {
    if let parts {
      switch parts.kind {
      case .concatenated, .deferred: return parts
      case .one, .several, .merged: break
      }
    }
    return SignalParts(.one(self))
  }

  /// The parts of this signal if it is a merge; otherwise nil.
  @inlinable
  var mergedParts: SignalParts<Value>? {
    if let parts, case .merged = parts.kind { parts } else { nil }
  }
}

/// A walk through a tree of parts, in order.
///
/// A deferred signal is made when the walk reaches it, and its own parts take its place. So a page
/// that is concatenated with the deferred next page, and so on, takes constant stack and memory.
@usableFromInline
@frozen
package struct ConcatAndMergeParts<Value: Sendable>: Sendable {
  /// The remaining parts, the next one last.
  @usableFromInline var rest: [SignalParts<Value>]

  @inlinable
  package init(_ parts: SignalParts<Value>) {
    rest = [parts]
  }

  @inlinable
  package var isAtEnd: Bool {
    rest.isEmpty
  }

  /// Returns the next part; nil at the end, or when `lifetime` has ended.
  @inlinable
  package mutating func next(until lifetime: Lifetime? = nil) -> Signal<Value>? {
    while let parts = rest.popLast() {
      if let lifetime, lifetime.isEnded { return nil }
      switch parts.kind {
      case .one(let signal): return signal
      case .several(let signals): rest += signals.reversed().map { SignalParts(.one($0)) }
      case .deferred(let make): rest.append(make().concatenation)
      case .concatenated, .merged: rest += parts.branches.reversed()
      }
    }
    return nil
  }
}
