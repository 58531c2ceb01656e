/// The use of values that were joined.
@usableFromInline
package enum CombinedUse: Sendable {
  /// Each value is joined once.
  case usingUp

  /// The latest value of each input is joined repeatedly.
  case keepingLatest
}

/// A ring of the values of one `zip` or `combineLatest` input that wait for their partners.
///
/// Bare memory, because code for the elements of a pack is not specialised: on a generic array, a
/// `zip` of two subjects takes twelve times as many instructions for each event.
///
/// Sendable because its variables are touched only with the mailbox's turn, or in deinit.
@usableFromInline
final class CombinedQueue<Value: Sendable>: @unchecked Sendable {
  /// The number of the input.
  let input: Int
  private let use: CombinedUse
  @exclusivity(unchecked) private var ring: UnsafeMutablePointer<Value>
  @exclusivity(unchecked) private var capacity = 4
  @exclusivity(unchecked) private var head = 0
  @exclusivity(unchecked) private var count = 0

  @usableFromInline
  init(_ input: Int, _ use: CombinedUse) {
    self.input = input
    self.use = use
    ring = .allocate(capacity: capacity)
  }

  /// Creates the queue of `signal`, numbered `count`, and increments `count`.
  @usableFromInline
  convenience init(of signal: Signal<Value>, _ use: CombinedUse, _ count: inout Int) {
    self.init(count, use)
    count += 1
  }

  deinit {
    for offset in 0..<count { slot(offset).deinitialize(count: 1) }
    ring.deallocate()
  }

  @inline(__always)
  func put(_ value: Value) {
    if use == .keepingLatest, count > 0 {
      ring.pointee = value
      return
    }
    if count == capacity { resize(to: capacity * 2) }
    slot(count).initialize(to: value)
    count += 1
  }

  /// Takes the first value, or the latest one; called only for a value that
  /// `ZipAndCombineLatestRule` has counted.
  @usableFromInline
  func take() -> Value {
    precondition(count > 0, "an input was asked for more values than were counted in it")
    if use == .keepingLatest { return ring.pointee }
    if capacity > 64, count * 4 <= capacity { resize(to: capacity / 2) }
    let first = slot(0)
    head = (head + 1) & (capacity - 1)
    count -= 1
    return first.move()
  }

  /// Returns a place in the ring, whose capacity is a power of two.
  @inline(__always)
  private func slot(_ offset: Int) -> UnsafeMutablePointer<Value> {
    ring + ((head + offset) & (capacity - 1))
  }

  private func resize(to newCapacity: Int) {
    let new = UnsafeMutablePointer<Value>.allocate(capacity: newCapacity)
    for offset in 0..<count { (new + offset).moveInitialize(from: slot(offset), count: 1) }
    ring.deallocate()
    (ring, capacity, head) = (new, newCapacity, 0)
  }
}
