import MillpondSignals

/// Returns the costs of joining several signals.
func combiningRows() -> [Row] {
  [
    Row(
      "merge-8", "merge of eight subjects, per event", target: 55, peer: .openCombine(174),
      beside: .mutex, expected: triangle
    ) { operations in
      let sum = Sum()
      let pipes = (0..<8).map { _ in PublishSubject<Int>() }
      Signal.from(pipes.map(\.signal)).flatMap(.merge) { $0 }.subscribe(onNext: { sum.add($0) })
      for term in 0..<operations { pipes[term & 7].next(term) }
      return sum.take()
    },
    .flatMap("flatmap", "flatMap", .concat, .asyncCode(213)),
    .flatMap("latest", "flatMap(.latest)", .latest, .openCombine(578)),
    .pairing(
      "combine-latest", "combineLatest", .rxSwift(443),
      // (0, 0), and then, for each further term, the pair with the term before it, and the pair of
      // the term with itself.
      expected: { 4 * triangle($0 / 2) - ($0 / 2 - 1) }
    ) { MillpondSignals.combineLatest($0, $1) },
    .pairing("zip", "zip", .openCombine(476), expected: { 2 * triangle($0 / 2) }) {
      MillpondSignals.zip($0, $1)
    },
    Row(
      "concat", "flatMap(.concat) of cold inner signals, per signal", target: 240,
      peer: .openCombine(734), beside: .objects(4), expected: triangle
    ) { operations in
      let sum = Sum()
      Signal.from(0..<operations).flatMap(.concat) { Signal.of($0) }
        .subscribe(onNext: { sum.add($0) })
      return sum.take()
    },
  ]
}

extension Row {
  fileprivate static func flatMap(
    _ name: String, _ summary: String, _ strategy: FlatMapStrategy, _ peer: Peer
  ) -> Row {
    Row(
      name, "\(summary) of settled inner signals, per signal", target: 140, peer: peer,
      beside: .object, expected: triangle
    ) { operations in
      let sum = Sum()
      Signal.from(0..<operations).flatMap(strategy) { Signal.just($0) }
        .subscribe(onNext: { sum.add($0) })
      return sum.take()
    }
  }

  fileprivate static func pairing(
    _ name: String, _ summary: String, _ peer: Peer,
    expected: @escaping @Sendable (Int) -> Int,
    _ pair: @escaping @Sendable (Signal<Int>, Signal<Int>) -> Signal<(Int, Int)>
  ) -> Row {
    Row(
      name, "\(summary) of two subjects, per event", target: 55, peer: peer, beside: .mutex,
      expected: expected
    ) { operations in
      let sum = Sum()
      let (left, right) = (PublishSubject<Int>(), PublishSubject<Int>())
      pair(left.signal, right.signal).subscribe(onNext: { sum.add($0 + $1) })
      for term in 0..<(operations / 2) {
        left.next(term)
        right.next(term)
      }
      return sum.take()
    }
  }
}
