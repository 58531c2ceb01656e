import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ScanTests {
  let source = TestSource<Int>()
  let recorder = Recorder<String>()

  @Test func `each value is joined to the result so far, everything else passes`() {
    recorder.subscribe(to: source.signal.scan("0") { "\($0)+\($1)" })

    source.progress(SignalProgress(completed: 1, total: 2))
    source.next(1)
    source.next(2)
    source.completed()

    #expect(recorder.transcript == ["progress 1/2", "next 0+1", "next 0+1+2", "completed"])
  }

  @Test func `each run begins anew`() {
    let sums = Signal.of(1, 2, 3).scan(0, +)
    let second = Recorder<Int>()

    sums.subscribe()
    second.subscribe(to: sums)

    #expect(second.values == [1, 3, 6])
  }

  @Test func `a failure passes`() {
    recorder.subscribe(to: source.signal.scan("") { "\($0)\($1)" })

    source.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
  }
}
