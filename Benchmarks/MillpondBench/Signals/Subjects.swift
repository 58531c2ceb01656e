import MillpondSignals

/// Returns the costs of one sender with many observers.
func subjectRows() -> [Row] {
  [(1, "an observer", 24.0), (10, "10 observers", 5), (1_000, "1000 observers", 4)].map {
    count, observers, target in
    Row(
      "pipe-\(count)", "a subject with \(observers), per delivery", target: target,
      beside: .calls(count), body: .pipe(to: count))
  }
}

extension Work {
  fileprivate static func pipe(to count: Int) -> Work {
    let sum = Sum()
    let pipe = PublishSubject<Int>()
    for _ in 0..<count { pipe.signal.subscribe(onNext: { sum.add($0) }) }
    return Work(expected: { triangle($0 / count) * count }) { operations in
      for term in 0..<(operations / count) { pipe.next(term) }
      return sum.take()
    }
  }

  /// Returns calls of a method on each of an array's objects, none of which is retained for it.
  fileprivate static func calls(_ count: Int) -> Work {
    Work("calls-\(count)", expected: { triangle($0 / count) * count }) { operations in
      let sum = Sum()
      let receivers = (0..<count).map { _ in Receiver(sum) }
      receivers.map(Unmanaged.passUnretained).withUnsafeBufferPointer { receivers in
        for term in 0..<(operations / count) {
          for receiver in receivers { receiver._withUnsafeGuaranteedRef { $0.receive(term) } }
        }
      }
      // The objects live as long as they are called.
      return withExtendedLifetime(receivers) { sum.take() }
    }
  }
}

private final class Receiver {
  private let sum: Sum

  init(_ sum: Sum) {
    self.sum = sum
  }

  @inline(never)
  func receive(_ term: Int) {
    sum.add(term)
  }
}
