import Observation

/// Suspends until a condition on observable objects holds.
@MainActor
func observed(_ condition: @MainActor () -> Bool) async {
  while !condition() {
    await withCheckedContinuation { continuation in
      withObservationTracking {
        _ = condition()
      } onChange: {
        // Before the change; the caller goes on after it, since both are on the main actor.
        continuation.resume()
      }
    }
  }
}
