import MillpondSignals
import MillpondTesting
import Testing

/// The compilation is half of the test: the target allows an expression 200 ms.
///
/// Measured: 24 and 22 ms. Not every chain is so quick: with arithmetic on literals in most of its
/// closures, and members without their type (`.of(…)`) among them, it can take seconds, as a chain
/// of the standard library's `lazy` does.
@Suite struct ChainOfTwelveTests {
  @Test func `twelve different operators in one expression, no type written out`() {
    let words = PublishSubject<String>()
    let lengths = words.signal
      .map { $0.uppercased() }
      .filter { !$0.isEmpty }
      .distinct()
      .startWith("")
      .map { $0.count }
      .filter { $0 > 1 }
      .scan(0) { max($0, $1) }
      .skip(1)
      .take(5)
      .flatMap(.latest) { Signal.of($0, $0) }
      .compactMap { $0 > 3 ? "\($0)" : nil }
      .recover { _ in .just("none") }
    let recorder = Recorder<String>().subscribe(to: lengths)

    for word in ["mill", "Mill", "millpond", "pond"] { words.next(word) }

    #expect(recorder.values == ["8", "8", "8", "8"])
  }

  @Test func `twelve maps with a literal each`() {
    let thirteen = Signal.just(1)
      .map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }
      .map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }

    #expect(Recorder<Int>().subscribe(to: thirteen).values == [13])
  }
}
