import MillpondSignals

/// Returns the costs of building and of subscribing.
func makingRows() -> [Row] {
  [
    Row(
      "just-built", "just·map·subscribe, built each time", target: 70, mallocs: 2,
      peer: ("OpenCombine", 717), beside: .objects(1),
      .summing(expected: { triangle($0) + $0 }) { sum, operations in
        for term in 0..<operations { mappedJust(term).subscribe(onNext: { sum.add($0) }) }
      }),
    Row(
      "just-prebuilt", "the same prebuilt, subscribe only", target: 130,
      peer: ("OpenCombine", 653), beside: .chain(of: 3),
      .summing(expected: { 8 * $0 }) { sum, operations in
        let signal = opaque(mappedJust(7))
        for _ in 0..<operations { signal.subscribe(onNext: { sum.add($0) }) }
      }),
    Row(
      "create", "create, map, subscribe, dispose", target: 400, mallocs: 4,
      peer: ("OpenCombine", 1_663), beside: .objects(4),
      .summing(expected: { triangle($0) + 3 * $0 }) { sum, operations in
        let held = Held(sum)
        for term in 0..<operations {
          held.term = term
          Signal<Int>.create { observer, lifetime in
            held.observer = observer
            observer.next(held.term)
            lifetime.onEnd { held.sum.add(2) }
          }
          .map { $0 &+ 1 }
          .subscribe(onNext: { held.sum.add($0) }).dispose()
        }
      }),
  ]
}

@inline(never)
private func mappedJust(_ value: Int) -> Signal<Int> {
  Signal.just(value).map { $0 &+ 1 }
}

/// The shared state of the user's closures, so that they need no contexts of their own.
///
/// Sendable because there is one thread.
private final class Held: @unchecked Sendable {
  let sum: Sum
  @exclusivity(unchecked) var term = 0
  @exclusivity(unchecked) var observer: Observer<Int>?

  init(_ sum: Sum) {
    self.sum = sum
  }
}
