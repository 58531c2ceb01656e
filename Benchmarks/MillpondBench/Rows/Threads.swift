import Dispatch
import Foundation
import MillpondSignals
import Synchronization

/// Two senders at once.
func threadRows() -> [Row] {
  [
    Row(
      name: "threads-pipe", summary: "8: two threads into one Pipe, an event", target: 75,
      baseline: .lockedByTwo, body: .pipeByTwo),
    Row(
      name: "threads-merge", summary: "8: two threads into one merge, an event", target: 190,
      baseline: .lockedByTwo, body: .mergeByTwo),
  ]
}

extension Work {
  fileprivate static let lockedByTwo = Work("lock-by-two", expected: bothSums) { operations in
    let state = Locked(0)
    byTwo(operations) { _, term in state.withLock { $0 &+= term } }
    return state.withLock { $0 }
  }

  fileprivate static let pipeByTwo = Work("", expected: bothSums) { operations in
    let sum = Sum()
    let pipe = Pipe<Int>()
    pipe.signal.subscribe(onNext: { sum.add($0) })
    byTwo(operations) { _, term in pipe.next(term) }
    return sum.take()
  }

  fileprivate static let mergeByTwo = Work("", expected: bothSums) { operations in
    let sum = Sum()
    let pipes = [Pipe<Int>(), Pipe<Int>()]
    Signal.from(pipes.map(\.signal)).flatMap(.merge) { $0 }.subscribe(onNext: { sum.add($0) })
    byTwo(operations) { thread, term in pipes[thread].next(term) }
    return sum.take()
  }

  private static func bothSums(_ operations: Int) -> Int {
    2 * triangle(operations / 2)
  }

  private static func byTwo(
    _ operations: Int, _ body: @Sendable (_ thread: Int, _ term: Int) -> Void
  ) {
    let ready = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 2) { thread in
      ready.wrappingAdd(1, ordering: .relaxed)
      while ready.load(ordering: .relaxed) < 2 { sched_yield() }
      for term in 0..<(operations / 2) { body(thread, term) }
    }
  }
}
