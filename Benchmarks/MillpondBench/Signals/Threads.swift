import Dispatch
import Foundation
import MillpondSignals

/// Returns several concurrent senders, beside as many that call an observer under a plain lock, the
/// bound for a contended row.
///
/// A merge has a subject for each thread, and so has the code beside it.
func threadRows() -> [Row] {
  [
    Row(
      "threads-pipe-2", "two threads into one subject, per event", target: 75, times: 1,
      peer: ("OpenCombine", 154), figure: .median, beside: locked,
      contended { sum in
        let pipe = PublishSubject<Int>()
        pipe.signal.subscribe(onNext: { sum.add($0) })
        return { _, term in pipe.next(term) }
      }),
    Row(
      "threads-merge-2", "two threads into one merge, per event", target: 190, times: 1,
      peer: ("OpenCombine", 193), figure: .median, beside: lockedPipes,
      contended { sum in
        let pipes = (0..<2).map { _ in PublishSubject<Int>() }
        Signal.merge(pipes.map(\.signal)).subscribe(onNext: { sum.add($0) })
        return { thread, term in pipes[thread].next(term) }
      }),
  ]
}

/// The simplest serial delivery: the observer is called under a lock.
private let locked = contended("locked-by-2") { sum in
  let state = Locked(0)
  let add = Calling { sum.add($0) }
  return { _, term in state.withLock { _ in add.call(term) } }
}

/// The simplest merge: the observers of all subjects call on under one lock.
private let lockedPipes = contended("locked-pipes-2") { sum in
  let state = Locked(0)
  let add = Calling { sum.add($0) }
  let pipes = (0..<2).map { _ in PublishSubject<Int>() }
  for pipe in pipes {
    pipe.signal.subscribe(onNext: { term in state.withLock { _ in add.call(term) } })
  }
  return { thread, term in pipes[thread].next(term) }
}

/// Returns the work of two threads.
///
/// - Parameter prepare: Makes the work of a thread on a term.
private func contended(
  _ name: String = "ours",
  _ prepare: @escaping @Sendable (Sum) -> @Sendable (_ thread: Int, _ term: Int) -> Void
) -> Work {
  .summing(name, expected: { 2 * triangle($0 / 2) }) { sum, operations in
    let send = prepare(sum)
    together(2) { thread in
      for term in 0..<(operations / 2) { send(thread, term) }
    }
  }
}

/// Runs `body` on `threads` threads that start together, and returns when all have ended.
///
/// Threads of its own, since `concurrentPerform` starts no more than there are cores.
func together(_ threads: Int, _ body: @escaping @Sendable (_ thread: Int) -> Void) {
  if threads == 1 { return body(0) }
  let arrived = Locked(0)
  let end = DispatchGroup()
  for thread in 0..<threads {
    end.enter()
    Thread.detachNewThread {
      arrived.withLock { $0 += 1 }
      while arrived.withLock({ $0 }) < threads { sched_yield() }
      body(thread)
      end.leave()
    }
  }
  end.wait()
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
