/// A first-in, first-out queue.
///
/// - Complexity: O(1) amortised to append and to pop.
@usableFromInline
@frozen
package struct Queue<Element> {
  @usableFromInline var elements: ContiguousArray<Element?> = []
  @usableFromInline var head = 0

  @inlinable
  package init() {}

  @inlinable
  package var isEmpty: Bool { head == elements.count }

  @inlinable
  package var count: Int { elements.count - head }

  @inlinable
  package var first: Element? { isEmpty ? nil : elements[head] }

  /// Returns the first `count` elements, all if there are fewer; none for less than one.
  ///
  /// - Complexity: O(`count`).
  @inlinable
  package func prefix(_ count: Int) -> [Element] {
    elements[head...].prefix(max(0, count)).compactMap { $0 }
  }

  @inlinable
  package mutating func append(_ element: Element) {
    elements.append(element)
  }

  @inlinable
  package mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    let element = elements[head]
    elements[head] = nil
    head += 1
    if head == elements.count {
      elements.removeAll(keepingCapacity: head <= 64)
      head = 0
    } else if head >= 64, head * 2 >= elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }
}

extension Queue: Sendable where Element: Sendable {}
