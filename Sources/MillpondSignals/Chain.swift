/// A list that grows at its end, and shares what it had before with its shorter versions.
///
/// - Complexity: O(1) to append.
@usableFromInline
package final class Chain<Element: Sendable>: @unchecked Sendable {
  // Sendable because `previous` changes only in the deinit of the last link that knows this one.
  private var previous: Chain?
  private let last: Element

  /// A list of one more than `previous`.
  @usableFromInline
  package init(_ previous: Chain?, _ last: Element) {
    self.previous = previous
    self.last = last
  }

  /// Takes the links off one after the other: released by themselves, they would recurse (S19).
  deinit {
    var rest = previous
    previous = nil
    while isKnownUniquelyReferenced(&rest), let link = rest {
      rest = link.previous
      link.previous = nil
    }
  }

  /// All elements, the oldest first.
  @usableFromInline
  package var elements: [Element] {
    var elements: [Element] = []
    var link: Chain? = self
    while let current = link {
      elements.append(current.last)
      link = current.previous
    }
    elements.reverse()
    return elements
  }
}
