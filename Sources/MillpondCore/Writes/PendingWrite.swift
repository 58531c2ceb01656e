import MillpondSignals
public import Synchronization

/// A write that has its place in the order, but has not arrived at a store yet.
///
/// While it exists, no store forgets a later write of the same key. Code that delays a write
/// between its call and its arrival, such as an encoder in a task, creates one first, and ends it
/// when the write has arrived.
public final class PendingWrite: Sendable {
  private let revision: Revision
  private let isOver = Atomic<Bool>(false)

  /// Marks a write as pending until ``end()`` or until this object is released.
  ///
  /// - Parameter revision: The revision of the write.
  public init(_ revision: Revision) {
    self.revision = revision
    PendingWrites.begin(revision)
  }

  /// Records that the write has arrived, or never will.
  public func end() {
    if !isOver.exchange(true, ordering: .relaxed) { PendingWrites.end(revision) }
  }

  deinit {
    end()
  }

  /// Whether a write earlier than `revision` is pending.
  @inlinable
  public static func isAny(before revision: Revision) -> Bool {
    PendingWrites.oldest.load(ordering: .acquiring) < revision.number
  }

  /// The oldest pending revision; the greatest possible one if none is pending.
  @usableFromInline
  static var oldest: Revision {
    Revision(number: PendingWrites.oldest.load(ordering: .acquiring))
  }

  /// Runs `body`, in which the write arrives.
  @inlinable
  package static func during<Result>(_ revision: Revision, _ body: () -> Result) -> Result {
    PendingWrites.begin(revision)
    defer { PendingWrites.end(revision) }
    return body()
  }
}

/// The pending writes of the whole process.
@usableFromInline
enum PendingWrites {
  /// The number of the oldest pending write, or the greatest number if there is none.
  @usableFromInline static let oldest = Atomic<UInt64>(.max)

  private static let all = Locked(State())

  /// The numbers in ascending order, each with whether it has ended; those before index `first`
  /// have.
  private struct State: Sendable {
    var numbers: ContiguousArray<(number: UInt64, hasEnded: Bool)> = []
    var first = 0

    /// The number of ended ones from `first` on.
    var endedCount = 0

    mutating func add(_ number: UInt64) {
      var place = numbers.count
      while place > first, numbers[place - 1].number > number { place -= 1 }
      numbers.insert((number, false), at: place)
    }

    /// Ends one write of this number; several have the same if several layers delay it.
    mutating func remove(_ number: UInt64) {
      var place = place(of: number)
      while place < numbers.count, numbers[place].number == number, numbers[place].hasEnded {
        place += 1
      }
      guard place < numbers.count, numbers[place].number == number else { return }
      numbers[place].hasEnded = true
      endedCount += 1
      while first < numbers.count, numbers[first].hasEnded {
        first += 1
        endedCount -= 1
      }
      shrink()
    }

    /// Returns the first place of a number, or of the next greater one.
    private func place(of number: UInt64) -> Int {
      var (low, high) = (first, numbers.count)
      while low < high {
        let middle = (low + high) / 2
        if numbers[middle].number < number { low = middle + 1 } else { high = middle }
      }
      return low
    }

    /// Gives up the ended ones when they are more than half.
    private mutating func shrink() {
      if first == numbers.count {
        numbers.removeAll(keepingCapacity: first < 1_024)
        first = 0
      } else if first + endedCount > 64, first + endedCount > numbers.count / 2 {
        numbers.removeAll { $0.hasEnded }
        (first, endedCount) = (0, 0)
      }
    }

    var oldest: UInt64 {
      first < numbers.count ? numbers[first].number : .max
    }
  }

  @usableFromInline
  static func begin(_ revision: Revision) {
    all.withLock { state in
      state.add(revision.number)
      oldest.store(state.oldest, ordering: .releasing)
    }
  }

  @usableFromInline
  static func end(_ revision: Revision) {
    all.withLock { state in
      state.remove(revision.number)
      oldest.store(state.oldest, ordering: .releasing)
    }
  }
}
