import MillpondSignals

/// Returns the costs of joining several signals.
func combiningRows() -> [Row] {
  [
    Row(
      "merge-8", "merge of eight subjects, per event", target: 55, peer: ("OpenCombine", 174),
      beside: .mutex,
      .summing(expected: triangle) { sum, operations in
        let pipes = (0..<8).map { _ in PublishSubject<Int>() }
        Signal.from(pipes.map(\.signal)).flatMap(.merge) { $0 }.subscribe(onNext: { sum.add($0) })
        for term in 0..<operations { pipes[term & 7].next(term) }
      }),
    Row(
      "flatmap", "flatMap of settled inner signals, per signal", target: 140,
      peer: ("async code", 213), beside: .objects(1), .flatMap(.concat) { .just($0) }),
    Row(
      "latest", "flatMap(.latest) of settled inner signals, per signal", target: 140,
      peer: ("OpenCombine", 578), beside: .objects(1), .flatMap(.latest) { .just($0) }),
    Row(
      "concat", "flatMap(.concat) of cold inner signals, per signal", target: 240,
      peer: ("OpenCombine", 734), beside: .objects(4), .flatMap(.concat) { .of($0) }),
    Row(
      "combine-latest", "combineLatest of two subjects, per event", target: 55,
      peer: ("RxSwift", 443), beside: .mutex,
      // (0, 0), and then, for each further term, the pair with the term before it, and the pair of
      // the term with itself.
      .pairs(expected: { 4 * triangle($0 / 2) - ($0 / 2 - 1) }) {
        MillpondSignals.combineLatest($0, $1)
      }),
    Row(
      "zip", "zip of two subjects, per event", target: 55, peer: ("OpenCombine", 476),
      beside: .mutex,
      .pairs(expected: { 2 * triangle($0 / 2) }) { MillpondSignals.zip($0, $1) }),
  ]
}

extension Work {
  fileprivate static func flatMap(
    _ strategy: FlatMapStrategy, _ inner: @escaping @Sendable (Int) -> Signal<Int>
  ) -> Work {
    .summing(expected: triangle) { sum, operations in
      Signal.from(0..<operations).flatMap(strategy, inner).subscribe(onNext: { sum.add($0) })
    }
  }

  fileprivate static func pairs(
    expected: @escaping @Sendable (Int) -> Int,
    _ pair: @escaping @Sendable (Signal<Int>, Signal<Int>) -> Signal<(Int, Int)>
  ) -> Work {
    .summing(expected: expected) { sum, operations in
      let (left, right) = (PublishSubject<Int>(), PublishSubject<Int>())
      pair(left.signal, right.signal).subscribe(onNext: { sum.add($0 + $1) })
      for term in 0..<(operations / 2) {
        left.next(term)
        right.next(term)
      }
    }
  }
}
