import Dispatch
import Foundation
import MillpondSignals
import Synchronization

/// Returns several concurrent senders, beside as many that call an observer under a plain lock, the
/// bound for a contended row.
///
/// A merge has a subject for each thread, and so has the code beside it.
func threadRows() -> [Row] {
  [
    Row(
      "threads-pipe-2", "two threads into one subject, per event", target: 75,
      times: 1, peer: .openCombine(154), figure: .median,
      beside: .locked(by: 2), body: .pipe(by: 2)),
    Row(
      "threads-merge-2", "two threads into one merge, per event", target: 190,
      times: 1, peer: .openCombine(193), figure: .median,
      beside: .lockedPipes(by: 2), body: .merge(by: 2)),
  ]
}

extension Work {
  /// Returns the simplest serial delivery: the observer is called under a lock.
  fileprivate static func locked(by threads: Int) -> Work {
    contended(by: threads, "locked-by-\(threads)") { sum in
      let state = Locked(0)
      let add = Calling { sum.add($0) }
      return { _, term in state.withLock { _ in add.call(term) } }
    }
  }

  /// Returns the simplest merge: the observers of all subjects call on under one lock.
  fileprivate static func lockedPipes(by threads: Int) -> Work {
    contended(by: threads, "locked-pipes-\(threads)") { sum in
      let state = Locked(0)
      let add = Calling { sum.add($0) }
      let pipes = (0..<threads).map { _ in PublishSubject<Int>() }
      for pipe in pipes {
        pipe.signal.subscribe(onNext: { term in state.withLock { _ in add.call(term) } })
      }
      return { thread, term in pipes[thread].next(term) }
    }
  }

  fileprivate static func pipe(by threads: Int) -> Work {
    contended(by: threads) { sum in
      let pipe = PublishSubject<Int>()
      pipe.signal.subscribe(onNext: { sum.add($0) })
      return { _, term in pipe.next(term) }
    }
  }

  fileprivate static func merge(by threads: Int) -> Work {
    contended(by: threads) { sum in
      let pipes = (0..<threads).map { _ in PublishSubject<Int>() }
      Signal.merge(pipes.map(\.signal)).subscribe(onNext: { sum.add($0) })
      return { thread, term in pipes[thread].next(term) }
    }
  }

  /// - Parameter prepare: Makes the work of a thread on a term.
  private static func contended(
    by threads: Int, _ name: String = "ours",
    _ prepare: @escaping @Sendable (Sum) -> @Sendable (_ thread: Int, _ term: Int) -> Void
  ) -> Work {
    Work(name, expected: { threads * triangle($0 / threads) }) { operations in
      let sum = Sum()
      let send = prepare(sum)
      together(threads) { thread in
        for term in 0..<(operations / threads) { send(thread, term) }
      }
      return sum.take()
    }
  }
}

/// Runs `body` on `threads` threads that start together, and returns when all have ended.
///
/// Threads of its own, since `concurrentPerform` starts no more than there are cores.
func together(_ threads: Int, _ body: @escaping @Sendable (_ thread: Int) -> Void) {
  let line = StartingLine()
  let end = DispatchGroup()
  for thread in 0..<threads {
    end.enter()
    Thread.detachNewThread {
      line.arrived.wrappingAdd(1, ordering: .acquiringAndReleasing)
      while line.arrived.load(ordering: .acquiring) < threads { sched_yield() }
      body(thread)
      end.leave()
    }
  }
  end.wait()
}

private final class StartingLine: Sendable {
  let arrived = Atomic<Int>(0)
}

/// A call that the optimiser can't see through.
///
/// Sendable because it is called under a lock.
private struct Calling: @unchecked Sendable {
  let call: (Int) -> Void

  init(_ call: @escaping (Int) -> Void) {
    self.call = opaqueCall(call)
  }
}
