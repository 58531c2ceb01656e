/// A collection of elements with numbers, in order of arrival, by which they are removed.
package struct Registry<Element: Sendable>: Sendable {
  private var byNumber: [Int: Element] = [:]
  private var lastNumber = 0

  package init() {}

  /// The elements, in any order.
  package var elements: Dictionary<Int, Element>.Values { byNumber.values }

  /// The elements with their numbers, in order.
  ///
  /// - Complexity: O(*n* log *n*).
  package var numbered: [(number: Int, element: Element)] {
    byNumber.sorted { $0.key < $1.key }.map { (number: $0.key, element: $0.value) }
  }

  /// The element with this number; setting changes only an element that is present.
  package subscript(number: Int) -> Element? {
    get { byNumber[number] }
    set { if byNumber[number] != nil { byNumber[number] = newValue } }
  }

  /// Adds an element.
  ///
  /// - Returns: The number by which it is removed.
  package mutating func add(_ element: Element) -> Int {
    lastNumber += 1
    byNumber[lastNumber] = element
    return lastNumber
  }

  /// Removes an element and returns it, for release after the unlock.
  package mutating func remove(_ number: Int) -> Element? { byNumber.removeValue(forKey: number) }

  package mutating func removeAll() -> [Element] {
    defer { byNumber = [:] }
    return Array(byNumber.values)
  }
}

extension Locked {
  /// Keeps an element until the handle is disposed of.
  package func keep<Element>(
    _ element: Element, in registry: any WritableKeyPath<State, Registry<Element>> & Sendable
  ) -> Disposable {
    let number = withLock { $0[keyPath: registry].add(element) }
    return Disposable {
      self.discard { $0[keyPath: registry].remove(number) }
    }
  }
}
