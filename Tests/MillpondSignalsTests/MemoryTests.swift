import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// Memory is counted for the whole process, so each test has one of its own.
///
/// A word kept for each value or subscription would reach the bound.
@Suite(.enabled(if: !Sanitizer.isPresent), .heavy) struct MemoryTests {
  static let bound = 2_000_000

  @Test func `a million synchronous values need no more memory than a few`() async {
    await #expect(processExitsWith: .success) {
      let values = { (count: Int) in
        Signal.from(0..<count).map { [$0] }.filter { !$0.isEmpty }.scan([]) { $1 }
      }
      values(50_000).subscribe()
      let before = Memory.peak

      values(1_000_000).subscribe()

      #expect(Memory.peak - before < MemoryTests.bound)
    }
  }

  @Test func `many values through a subject and a merge need no more memory than a few`()
    async
  {
    await #expect(processExitsWith: .success) {
      let pipe = PublishSubject<[Int]>()
      pipe.signal.merge(pipe.signal).withLatest(from: pipe.signal).subscribe()

      let rise = Memory.rise { pipe.next([$0]) }

      #expect(rise < MemoryTests.bound)
    }
  }

  @Test func `subscriptions that were disposed of leave no memory behind`()
    async
  {
    await #expect(processExitsWith: .success) {
      let pipe = PublishSubject<Int>()
      let signal = pipe.signal.map { $0 + 1 }.take(3)

      let rise = Memory.rise { _ in signal.subscribe().dispose() }

      #expect(rise < MemoryTests.bound)
    }
  }

  @Test func `subscriptions that completed leave no memory behind`() async {
    await #expect(processExitsWith: .success) {
      let signal = Signal.of(1, 2).map { $0 + 1 }.take(1)

      let rise = Memory.rise { _ in signal.subscribe() }

      #expect(rise < MemoryTests.bound)
    }
  }
}
