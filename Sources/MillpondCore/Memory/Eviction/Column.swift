/// The position of an entry in a slab; negative for none.
@usableFromInline package typealias Slot = Int32

/// A column of plain elements in memory of its own: access needs no reference counting and, in
/// release builds, no checks.
///
/// Not a value: copies share the memory. It belongs to one store, which is under one lock.
@usableFromInline
package struct Column<Element: BitwiseCopyable>: Sendable {
  /// The first element; nil while nothing is allocated.
  @usableFromInline nonisolated(unsafe) var base: UnsafeMutablePointer<Element>?
  @usableFromInline package var count = 0
  @usableFromInline package var capacity = 0
  @usableFromInline var memory: ColumnMemory<Element>?

  @inlinable
  package init() {}

  /// Creates a column of equal elements.
  @inlinable
  package init(repeating element: Element, count: Int) {
    let memory = ColumnMemory<Element>(capacity: count)
    memory.base.initialize(repeating: element, count: count)
    (self.memory, base) = (memory, memory.base)
    (self.count, capacity) = (count, count)
  }

  @inlinable
  package subscript(index: Int) -> Element {
    get {
      assert(index >= 0 && index < count)
      return base.unsafelyUnwrapped[index]
    }
    nonmutating set {
      assert(index >= 0 && index < count)
      base.unsafelyUnwrapped[index] = newValue
    }
  }

  @inlinable
  package subscript(slot: Slot) -> Element {
    get { self[Int(slot)] }
    nonmutating set { self[Int(slot)] = newValue }
  }

  @inlinable
  package mutating func append(_ element: Element) {
    if count == capacity { reserve(capacity < 8 ? 8 : capacity + capacity / 2) }
    count += 1
    self[count - 1] = element
  }

  /// Sets the element of a slot, or appends it if the slot is the first free one.
  @inlinable
  package mutating func put(_ element: Element, at slot: Slot) {
    if Int(slot) == count { append(element) } else { self[slot] = element }
  }

  /// Moves to larger memory.
  @usableFromInline
  package mutating func reserve(_ newCapacity: Int) {
    guard newCapacity > capacity else { return }
    let larger = ColumnMemory<Element>(capacity: newCapacity)
    if let base { larger.base.update(from: base, count: count) }
    memory = larger
    base = larger.base
    capacity = newCapacity
  }
}

extension Column: RandomAccessCollection {
  @inlinable package var startIndex: Int { 0 }
  @inlinable package var endIndex: Int { count }
}

/// The memory of a column, which it frees at its end.
@usableFromInline
final class ColumnMemory<Element: BitwiseCopyable>: Sendable {
  @usableFromInline nonisolated(unsafe) let base: UnsafeMutablePointer<Element>

  @usableFromInline
  init(capacity: Int) {
    base = .allocate(capacity: capacity)
  }

  deinit {
    base.deallocate()
  }
}
