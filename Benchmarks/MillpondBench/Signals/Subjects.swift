import MillpondSignals

/// Returns the costs of one sender with many observers.
func subjectRows() -> [Row] {
  [(1, 24.0), (10, 5), (1_000, 4)].map { count, target in
    Row(
      "pipe-\(count)", "a subject, per delivery; observers: \(count)", target: target,
      beside: .calls(count), .pipe(to: count))
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
    .summing("calls-\(count)", expected: { triangle($0 / count) * count }) { sum, operations in
      let receivers = (0..<count).map { _ in Receiver(sum) }
      receivers.map(Unmanaged.passUnretained).withUnsafeBufferPointer { receivers in
        for term in 0..<(operations / count) {
          for receiver in receivers { receiver._withUnsafeGuaranteedRef { $0.receive(term) } }
        }
      }
      // The objects live as long as they are called.
      withExtendedLifetime(receivers) {}
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
