import MillpondSignals
import Testing

@testable import MillpondBench

@Suite struct WaitingTests {
  @Test func `values are added up, wherever they come, and what fails adds nothing`() async {
    let pipe = PublishSubject<Int>()

    let total = await onThread {
      let answers = SignalSum(of: 4)
      answers.add(Signal<Int>.just(1)) { $0 }
      answers.add(pipe.signal) { $0 * 10 }
      answers.add(Signal<Int>.fail(SignalError.empty)) { $0 }
      answers.add(Signal<Int>.empty) { $0 }
      onOtherThread {
        pipe.next(2)
        pipe.next(3)
        pipe.completed()
      }
      return answers.total()
    }

    #expect(total == 51)
  }

  @Test func `an awaited signal returns its value, its failure, or that it was empty`() async {
    #expect(await onThread { try? awaited(Signal<Int>.just(7)) } == 7)
    #expect(
      await onThread { (try? awaited(Signal<Int>.fail(SignalError.timedOut(after: .zero)))) == nil }
    )
    #expect(await onThread { (try? awaited(Signal<Int>.empty)) == nil })
  }
}
