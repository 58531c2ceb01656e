import Dispatch
import MillpondSignals
import Synchronization

/// The source of the signal laws, which keeps the contract and counts its runs.
final class LawSource: Sendable {
  struct Record: Sendable {
    var runs: [LawRun] = []
    var starts = 0
    var teardowns = 0
  }

  let record = Watched(Record())

  /// - Parameter witness: An object that every run captures.
  func signal(keeping witness: LawWitness? = nil) -> Signal<Int> {
    Signal { [record] observer, lifetime in
      record.change {
        $0.starts += 1
        $0.runs.append(LawRun(observer, lifetime))
      }
      lifetime.onEnd {
        _ = witness
        record.change { $0.teardowns += 1 }
      }
    }
  }

  var runs: [LawRun] { record.state.runs }

  func send(_ event: Event<Int>) {
    for run in runs { run.send(event) }
  }

  /// Ends every run, including those that the end of another one starts.
  func end(_ event: Event<Int>, _ passTime: () -> Void) {
    for _ in 0..<100 {
      passTime()
      let live = runs.filter(\.isLive)
      if live.isEmpty { break }
      for run in live { run.send(event) }
    }
  }

  func forget() {
    // The runs are released after the unlock.
    _ = record.change { record in
      defer { record.runs = [] }
      return record.runs
    }
  }
}

/// One run, to which any thread may send.
final class LawRun: Sendable {
  private let serializer: Serializer<Int>
  private let lifetime: Lifetime
  private let isClosed = Atomic(false)

  init(_ observer: Observer<Int>, _ lifetime: Lifetime) {
    serializer = Serializer(observer, lifetime)
    self.lifetime = lifetime
  }

  var isStopped: Bool { lifetime.isEnded }

  var isLive: Bool { !isClosed.load(ordering: .acquiring) && !lifetime.isEnded }

  func send(_ event: Event<Int>) {
    guard isLive else { return }
    if event.isTerminal, isClosed.exchange(true, ordering: .acquiringAndReleasing) { return }
    serializer.send(event)
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

/// Returns whether the awaited event happens within `timeLimit`.
func happens(
  within timeLimit: Duration, _ wait: @escaping @Sendable () async throws -> Void
) async -> Bool {
  let task = Task { try await wait() }
  let timer = Scheduler(ContinuousClock()).schedule(after: timeLimit) { task.cancel() }
  defer { timer.dispose() }
  return (try? await task.value) != nil
}

/// Runs each body on its own thread, where it may block; returns whether all return in time.
func onThreads(
  within timeLimit: Duration, _ bodies: [@Sendable () -> Void]
) async -> Bool {
  let done = Watched(0)
  for body in bodies {
    DispatchQueue(label: "signal laws").async {
      body()
      done.change { $0 += 1 }
    }
  }
  let count = bodies.count
  return await happens(within: timeLimit) {
    try await done.wait(for: "\(count) threads") { $0 == count }
  }
}
