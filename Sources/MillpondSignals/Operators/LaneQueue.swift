/// The values of one lane of a zip or a combineLatest that wait for their partners, in a ring.
///
/// The optimiser specialises nothing for the elements of a pack, and then each use of a generic
/// container looks up metadata; bare memory needs none.
///
/// Sendable because what varies is touched only by whoever has the mailbox's turn, or in deinit.
@usableFromInline
final class LaneQueue<Value: Sendable>: @unchecked Sendable {
  let lane: Int
  private let use: LaneUse
  @exclusivity(unchecked) private var ring: UnsafeMutablePointer<Value>
  @exclusivity(unchecked) private var capacity = 4
  @exclusivity(unchecked) private var head = 0
  @exclusivity(unchecked) private var count = 0

  @usableFromInline
  init(_ lane: Int, _ use: LaneUse) {
    self.lane = lane
    self.use = use
    ring = .allocate(capacity: capacity)
  }

  /// The queue for `signal`, numbered after the `count` before it.
  @usableFromInline
  convenience init(of signal: Signal<Value>, _ use: LaneUse, _ count: inout Int) {
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

  /// The first value; called only for one that `LanesRule` has counted.
  @usableFromInline
  func take() -> Value {
    precondition(count > 0, "a lane was asked for more values than were counted in it")
    if use == .keepingLatest { return ring.pointee }
    if capacity > 64, count * 4 <= capacity { resize(to: capacity / 2) }
    let first = slot(0)
    head = (head + 1) & (capacity - 1)
    count -= 1
    return first.move()
  }

  /// The capacity is a power of two.
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
