/// What a signal consists of, where it is a concatenation, a merge, or not made yet: a tree, so that
/// joining two is one step, whichever side grows.
///
/// All inner nodes of a tree are of one kind. A concatenation of concatenations, or a merge of
/// merges, is run as one: it is longer, not deeper.
///
/// - Complexity: O(1) to join two; O(*n*) for a walk. Constant stack for both, and for the release.
@usableFromInline
package final class SignalParts<Value: Sendable>: @unchecked Sendable {
  // Sendable because nothing changes but in a deinit, where nobody else knows the node.

  @usableFromInline
  package enum Kind: Sendable {
    /// A signal that is not looked into.
    case one(Signal<Value>)

    /// Several of them.
    case several([Signal<Value>])

    /// A signal that is made when it is needed.
    case deferred(@Sendable () -> Signal<Value>)

    /// The branches, one after the other.
    case concatenated

    /// The branches, all at once.
    case merged
  }

  @usableFromInline var kind: Kind
  @usableFromInline var branches: [SignalParts]

  @inlinable
  package init(_ kind: Kind, _ branches: [SignalParts] = []) {
    self.kind = kind
    self.branches = branches
  }

  /// Released by themselves, the nodes of a tree, or deferred signals, would recurse.
  deinit {
    switch kind {
    case .one, .several: break
    case .deferred: releaseNested(&kind, leaving: .merged)
    case .concatenated, .merged: releaseNested(&branches, leaving: [])
    }
  }
}

extension Signal {
  /// This as a part of a concatenation.
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

  /// The parts that this is a merge of, if it is one.
  @inlinable
  var mergedParts: SignalParts<Value>? {
    if let parts, case .merged = parts.kind { parts } else { nil }
  }
}

/// A walk through a tree of parts, in order.
///
/// A deferred signal is made when the walk comes to it, and its own parts take its place: a page that
/// is concatenated with the deferred next page, and so on, takes constant stack and memory.
@usableFromInline
package struct PartsWalk<Value: Sendable>: Sendable {
  /// What is still to come, the next one last.
  @usableFromInline var rest: [SignalParts<Value>]

  @inlinable
  package init(_ parts: SignalParts<Value>) {
    rest = [parts]
  }

  @inlinable
  package var isAtEnd: Bool {
    rest.isEmpty
  }

  @inlinable
  package mutating func next() -> Signal<Value>? {
    while let parts = rest.popLast() {
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
