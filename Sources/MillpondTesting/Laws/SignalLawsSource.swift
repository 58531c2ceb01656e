import MillpondSignals

/// The source of the signal laws, which keeps the contract and counts its runs.
final class LawSource: Sendable {
  struct Record: Sendable {
    var starts = 0
    var teardowns = 0
  }

  let record = Watched(Record())
  private let source = TestSource<Int>()

  /// - Parameter witness: An object that every run captures.
  func signal(keeping witness: LawWitness? = nil) -> Signal<Int> {
    Signal { [record, signal = source.signal] observer, lifetime in
      record.change { $0.starts += 1 }
      lifetime.onEnd {
        _ = witness
        record.change { $0.teardowns += 1 }
      }
      signal.run(observer, lifetime)
    }
  }

  var runs: [TestRun<Int>] { source.runs }

  func send(_ event: Event<Int>) {
    source.send(event)
  }

  /// Ends every run, including those that the end of another one starts.
  func end(_ event: Event<Int>, _ passTime: () -> Void) {
    for _ in 0..<100 {
      passTime()
      if source.activeRuns == 0 { break }
      source.send(event)
    }
  }
}

/// An object that reports its release.
final class LawWitness: Sendable {
  private let releases: Watched<Int>

  init(_ releases: Watched<Int>) {
    self.releases = releases
  }

  deinit {
    releases.change { $0 += 1 }
  }
}
