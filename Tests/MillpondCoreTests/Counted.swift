import MillpondSignals

/// A value that is counted while it lives.
final class Counted: Sendable {
  let number: Int
  private let living: Locked<Int>

  init(_ number: Int, _ living: Locked<Int>) {
    self.number = number
    self.living = living
    living.withLock { $0 += 1 }
  }

  deinit {
    living.withLock { $0 -= 1 }
  }
}
