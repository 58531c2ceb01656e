/// The position of an entry in a slab; negative for none.
@usableFromInline package typealias Slot = Int32

/// An array of plain elements in chunks of memory of its own: access needs no reference counting
/// and, in release builds, no checks.
///
/// Growing moves no elements, except within the first chunk while that is small; chunks behind the
/// last element are freed. So the longest change takes as long in a large array as in a small one.
///
/// Not a value: copies share the memory. It belongs to one store, which is under one lock.
@usableFromInline
@frozen
package struct ChunkedArray<Element: BitwiseCopyable>: Sendable {
  /// The chunks; nil while nothing is allocated.
  @usableFromInline nonisolated(unsafe) var chunks:
    UnsafeMutablePointer<UnsafeMutablePointer<Element>>?

  @usableFromInline package private(set) var count = 0
  @usableFromInline package private(set) var capacity = 0
  @usableFromInline var memory: ChunkedArrayMemory<Element>?

  @inlinable
  package init() {}

  /// Creates an array of equal elements.
  @usableFromInline
  package init(repeating element: Element, count: Int) {
    reserve(count)
    while capacity < count { grow() }
    self.count = count
    for start in stride(from: 0, to: count, by: Self.chunkLength) {
      pointer(to: start).update(
        repeating: element, count: Swift.min(Self.chunkLength, count - start))
    }
  }

  @inlinable
  package subscript(index: Int) -> Element {
    get {
      assert(index >= 0 && index < count)
      return pointer(to: index).pointee
    }
    nonmutating _modify {
      assert(index >= 0 && index < count)
      yield &pointer(to: index).pointee
    }
  }

  @inlinable
  package subscript(slot: Slot) -> Element {
    get { self[Int(slot)] }
    nonmutating set { self[Int(slot)] = newValue }
  }

  /// Returns the address of an element, which is followed by the others of its chunk.
  @inlinable
  func pointer(to index: Int) -> UnsafeMutablePointer<Element> {
    chunks.unsafelyUnwrapped[index &>> Self.chunkBits] + (index & (Self.chunkLength - 1))
  }

  @inlinable
  package mutating func append(_ element: Element) {
    if count == capacity { grow() }
    count &+= 1
    pointer(to: count &- 1).pointee = element
  }

  /// Adds elements to be assigned through the returned address, which are side by side.
  ///
  /// - Parameter length: A divisor of the length of a chunk, as at all other calls.
  mutating func extend(by length: Int) -> UnsafeMutablePointer<Element> {
    while capacity - count < length { grow() }
    count &+= length
    return pointer(to: count &- length)
  }

  /// Sets the element of a slot, or appends it if the slot is the first free one.
  @inlinable
  @inline(__always)
  package mutating func put(_ element: Element, at slot: Slot) {
    if Int(slot) == count { append(element) } else { self[slot] = element }
  }

  /// Removes the last element; one empty chunk is kept for the next elements.
  @usableFromInline
  package mutating func removeLast() {
    count -= 1
    guard let memory, capacity - count >= 2 * Self.chunkLength else { return }
    memory.removeLast()
    capacity -= Self.chunkLength
  }

  /// Makes room for elements up to the first chunk's end; further chunks are made when they are
  /// needed.
  @usableFromInline
  package mutating func reserve(_ wanted: Int) {
    let newCapacity = Swift.min(wanted, Self.chunkLength)
    guard newCapacity > capacity else { return }
    let larger = ChunkedArrayMemory<Element>(capacity: newCapacity)
    if let chunks { larger.chunks[0].update(from: chunks[0], count: count) }
    memory = larger
    chunks = larger.chunks
    capacity = newCapacity
  }

  @usableFromInline
  mutating func grow() {
    if capacity < Self.chunkLength { return reserve(Swift.max(8, capacity + capacity / 2)) }
    memory?.append(capacity: Self.chunkLength)
    chunks = memory?.chunks
    capacity += Self.chunkLength
  }

  /// The number of elements in a chunk: few enough to copy or to free at once, and enough for the
  /// list of chunks to stay in the processor's cache.
  @inlinable package static var chunkLength: Int { 1 << chunkBits }
  @inlinable static var chunkBits: Int { 10 }
}

extension ChunkedArray: RandomAccessCollection {
  @inlinable package var startIndex: Int { 0 }
  @inlinable package var endIndex: Int { count }
}

/// The chunks of a column, which it frees at its end.
@usableFromInline
final class ChunkedArrayMemory<Element: BitwiseCopyable>: Sendable {
  @usableFromInline nonisolated(unsafe) var chunks:
    UnsafeMutablePointer<UnsafeMutablePointer<Element>>
  nonisolated(unsafe) private var count = 1
  nonisolated(unsafe) private var room = 1

  /// Creates a memory of one chunk.
  init(capacity: Int) {
    chunks = .allocate(capacity: 1)
    chunks.initialize(to: .allocate(capacity: capacity))
  }

  func append(capacity: Int) {
    if count == room {
      room *= 2
      let more = UnsafeMutablePointer<UnsafeMutablePointer<Element>>.allocate(capacity: room)
      more.update(from: chunks, count: count)
      chunks.deallocate()
      chunks = more
    }
    (chunks + count).initialize(to: .allocate(capacity: capacity))
    count += 1
  }

  func removeLast() {
    count -= 1
    chunks[count].deallocate()
  }

  deinit {
    for chunk in 0..<count { chunks[chunk].deallocate() }
    chunks.deallocate()
  }
}
