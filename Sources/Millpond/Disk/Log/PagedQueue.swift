import MillpondSignals

/// A first-in, first-out queue in pages, which moves no more than a page of elements at a time,
/// however many there are.
struct PagedQueue<Element> {
  private var front = Queue<Element>()
  private var pages = Queue<Queue<Element>>()
  private var back = Queue<Element>()

  private static var pageLength: Int { 1_024 }

  var isEmpty: Bool { first == nil }

  var first: Element? { front.first ?? pages.first?.first ?? back.first }

  mutating func append(_ element: Element) {
    back.append(element)
    if back.count == Self.pageLength { pages.append(exchange(&back, with: Queue())) }
  }

  mutating func popFirst() -> Element? {
    if front.isEmpty { front = pages.popFirst() ?? exchange(&back, with: Queue()) }
    return front.popFirst()
  }
}

extension PagedQueue: Sendable where Element: Sendable {}
