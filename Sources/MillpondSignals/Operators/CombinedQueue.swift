/// The number of waiting values in each input, and the inputs that still run.
package struct ZipAndCombineLatestRule: Sendable {
  package let use: CombinedUse
  private var waiting: ContiguousArray<Int>
  private var empty: Int
  private var isClosed: [Bool]
  private var running: Int

  /// The number of inputs that are closed and empty.
  private var usedUp = 0
  private var progress: [SignalProgress]
  private var together = ProgressSum()

  package init(inputs count: Int, _ use: CombinedUse) {
    self.use = use
    waiting = ContiguousArray(repeating: 0, count: count)
    empty = count
    isClosed = Array(repeating: false, count: count)
    running = count
    progress = Array(repeating: SignalProgress(completed: 0), count: count)
    for one in progress { together.add(one) }
  }

  /// Whether nothing can be joined any more: all inputs are closed, or one is closed and empty.
  package var isUsedUp: Bool {
    running == 0 || usedUp > 0
  }

  /// Counts a value; returns true if every input has one now, so that they are to be joined.
  package mutating func arrived(in input: Int) -> Bool {
    let before = waiting[input]
    if before == 0 { empty -= 1 }
    if before == 0 || use == .usingUp { waiting[input] = before + 1 }
    guard empty == 0 else { return false }
    if use == .usingUp { takeOneOfEach() }
    return true
  }

  /// Notes the end of an input.
  package mutating func close(_ input: Int) {
    isClosed[input] = true
    running -= 1
    if waiting[input] == 0 { usedUp += 1 }
    // A closed input has nothing left to do, so its total is the amount done.
    if progress[input].total == nil {
      let completed = progress[input].completed
      _ = sum(with: SignalProgress(completed: completed, total: completed), of: input)
    }
  }

  /// Notes the progress of an input, and returns the sum of all inputs.
  package mutating func sum(with new: SignalProgress, of input: Int) -> SignalProgress {
    together.remove(progress[input])
    together.add(new)
    progress[input] = new
    return together.progress
  }

  private mutating func takeOneOfEach() {
    // One loop over a buffer, so that bounds are not checked for each input.
    let before = empty
    waiting.withUnsafeMutableBufferPointer { waiting in
      for input in waiting.indices {
        waiting[input] -= 1
        if waiting[input] == 0 { empty += 1 }
      }
    }
    // While all inputs run, none can be used up.
    if running < waiting.count, empty > before {
      usedUp = waiting.indices.count { isClosed[$0] && waiting[$0] == 0 }
    }
  }
}

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
/// The optimiser does not specialise for the elements of a pack, so each use of a generic container
/// would look up metadata; bare memory needs none.
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
