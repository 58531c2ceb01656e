/// A column in which most slots have the same element: pages without any other are not allocated.
///
/// So a first element at a high slot costs no more than one at a low slot.
@usableFromInline
@frozen
package struct SparseArray<Element: Sendable>: Sendable {
  @usableFromInline var pages: ContiguousArray<ContiguousArray<Element>> = []
  @usableFromInline let common: Element

  @inlinable static var pageLength: Int { 1_024 }

  @inlinable
  package init(common: Element) {
    self.common = common
  }

  @inlinable
  package subscript(slot: Slot) -> Element {
    get {
      let (page, place) = Int(slot).quotientAndRemainder(dividingBy: Self.pageLength)
      return page < pages.count && !pages[page].isEmpty ? pages[page][place] : common
    }
    set {
      let (page, place) = Int(slot).quotientAndRemainder(dividingBy: Self.pageLength)
      while page >= pages.count { pages.append([]) }
      if pages[page].isEmpty {
        pages[page] = ContiguousArray(repeating: common, count: Self.pageLength)
      }
      pages[page][place] = newValue
    }
  }

  /// Gives up the elements from `slot` on, which must be common ones.
  @inlinable
  package mutating func removeAll(from slot: Slot) {
    let pageCount = (Int(slot) + Self.pageLength - 1) / Self.pageLength
    if pageCount < pages.count { pages.removeLast(pages.count - pageCount) }
  }

  /// Calls `body` with the slots of all pages in turn, until it returns false.
  @inlinable
  package func forEach(_ body: (Slot, Element) -> Bool) {
    for (number, page) in pages.enumerated() {
      for (place, element) in page.enumerated()
      where !body(Slot(number * Self.pageLength + place), element) { return }
    }
  }
}
