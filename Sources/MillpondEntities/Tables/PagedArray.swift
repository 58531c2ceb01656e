/// An array in pages: growing moves no elements, except within the first page while that is small.
@usableFromInline
@frozen
struct PagedArray<Element> {
  @usableFromInline var pages: ContiguousArray<ContiguousArray<Element>> = []
  @usableFromInline var count = 0

  @inlinable static var shift: Int { 9 }
  @inlinable static var pageLength: Int { 1 << shift }

  @inlinable
  init() {}

  @inlinable
  subscript(index: Int) -> Element {
    _read { yield pages[index &>> Self.shift][index & (Self.pageLength &- 1)] }
    _modify { yield &pages[index &>> Self.shift][index & (Self.pageLength &- 1)] }
  }

  @inlinable
  mutating func append(_ element: Element) {
    if count & (Self.pageLength - 1) == 0 {
      pages.append([])
      if count > 0 { pages[pages.count - 1].reserveCapacity(Self.pageLength) }
    }
    pages[pages.count - 1].append(element)
    count += 1
  }
}

extension PagedArray: RandomAccessCollection {
  @inlinable var startIndex: Int { 0 }
  @inlinable var endIndex: Int { count }
}

extension PagedArray: Sendable where Element: Sendable {}
