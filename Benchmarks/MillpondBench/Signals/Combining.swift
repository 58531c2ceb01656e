import MillpondSignals

/// Returns the costs of joining several signals.
func combiningRows() -> [Row] {
  [
    Row(
      "merge-8", "merge of eight subjects, per event", target: 55,
      peer: .openCombine(174), beside: .mutex, body: .merge),
    Row(
      "flatmap", "flatMap of settled inner signals, per signal", target: 140,
      peer: .asyncCode(213), beside: .object, body: .flatMap(.concat)),
    Row(
      "latest", "flatMap(.latest) of settled inner signals, per signal", target: 140,
      peer: .openCombine(578), beside: .object, body: .flatMap(.latest)),
    Row(
      "combine-latest", "combineLatest of two subjects, per event", target: 55,
      peer: .rxSwift(443), beside: .mutex, body: .combineLatest),
    Row(
      "zip", "zip of two subjects, per event", target: 55,
      peer: .openCombine(476), beside: .mutex, body: .zip),
    Row(
      "concat", "flatMap(.concat) of cold inner signals, per signal", target: 240,
      peer: .openCombine(734), beside: .objects(4), body: .concat),
  ]
}

extension Work {
  fileprivate static let merge = Work(expected: triangle) { operations in
    let sum = Sum()
    let pipes = (0..<8).map { _ in PublishSubject<Int>() }
    Signal.from(pipes.map(\.signal)).flatMap(.merge) { $0 }.subscribe(onNext: { sum.add($0) })
    for term in 0..<operations { pipes[term & 7].next(term) }
    return sum.take()
  }

  fileprivate static func flatMap(_ strategy: FlatMapStrategy) -> Work {
    Work(expected: triangle) { operations in
      let sum = Sum()
      Signal.from(0..<operations).flatMap(strategy) { Signal.just($0) }
        .subscribe(onNext: { sum.add($0) })
      return sum.take()
    }
  }

  fileprivate static let concat = Work(expected: triangle) { operations in
    let sum = Sum()
    Signal.from(0..<operations).flatMap(.concat) { Signal.of($0) }
      .subscribe(onNext: { sum.add($0) })
    return sum.take()
  }

  /// Every event but the first sends a pair.
  fileprivate static let combineLatest = Work(expected: pairsOfLatest) { operations in
    let sum = Sum()
    let (left, right) = (PublishSubject<Int>(), PublishSubject<Int>())
    MillpondSignals.combineLatest(left.signal, right.signal)
      .subscribe(onNext: { sum.add($0 + $1) })
    for term in 0..<(operations / 2) {
      left.next(term)
      right.next(term)
    }
    return sum.take()
  }

  /// Returns the sum of all pairs: (0, 0), and then, for each further term, the pair with the term
  /// before it, and the pair of the term with itself.
  private static func pairsOfLatest(_ operations: Int) -> Int {
    let terms = operations / 2
    return 4 * triangle(terms) - (terms - 1)
  }

  fileprivate static let zip = Work(expected: { 2 * triangle($0 / 2) }) { operations in
    let sum = Sum()
    let (left, right) = (PublishSubject<Int>(), PublishSubject<Int>())
    MillpondSignals.zip(left.signal, right.signal).subscribe(onNext: { sum.add($0 + $1) })
    for term in 0..<(operations / 2) {
      left.next(term)
      right.next(term)
    }
    return sum.take()
  }
}
