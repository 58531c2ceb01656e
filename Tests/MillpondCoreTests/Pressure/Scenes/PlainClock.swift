import MillpondTesting

/// A manual clock that can't call back, so that whoever wants to be called needs a task.
struct PlainClock: Clock {
  let manual = ManualClock()

  var now: ManualClock.Instant { manual.now }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    try await manual.sleep(until: deadline, tolerance: tolerance)
  }
}
