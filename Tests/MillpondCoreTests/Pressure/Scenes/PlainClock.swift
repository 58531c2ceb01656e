import MillpondTesting

/// A manual clock that cannot call back, so that a wait needs a task.
struct PlainClock: Clock {
  let manual = ManualClock()

  var now: ManualClock.Instant { manual.now }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    try await manual.sleep(until: deadline, tolerance: tolerance)
  }
}
