import MillpondSignals
import MillpondTesting
import Testing

@Suite struct FromTests {
  let recorder = Recorder<Int>()

  @Test(arguments: [0, 1, 3])
  func `from sends the elements in order and completes`(count: Int) {
    recorder.subscribe(to: .from(0..<count))

    #expect(recorder.values == Array(0..<count))
    #expect(recorder.isCompleted)
  }

  @Test func `of sends its arguments in order and completes`() {
    recorder.subscribe(to: .of(3, 1, 2))

    #expect(recorder.transcript == ["next 3", "next 1", "next 2", "completed"])
  }

  @Test func `from stops where the subscriber leaves, even in an endless sequence`() {
    recorder.subscribe(to: .from(1...)) { [recorder] event in
      if case .next(3) = event { recorder.dispose() }
    }

    #expect(recorder.values == [1, 2, 3])
  }
}
