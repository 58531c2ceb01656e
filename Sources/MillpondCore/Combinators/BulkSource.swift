public import MillpondSignals

/// A source that fetches many keys with one call.
///
///     let people = BulkSource<Int, Person> { ids in .async { try await api.people(ids) } }
///       .batching(window: .milliseconds(10), max: 50)
///     let cache = memory.layered(over: people).reusingInFlight()
public struct BulkSource<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline let get: @Sendable ([Key]) -> Signal<[Key: Value]>

  /// Creates a source from a bulk call.
  ///
  /// - Parameter get: Called with at least one key, without duplicates, in the order of the gets.
  ///   It may send several dictionaries; each answers the keys in it. A key that is in none of them
  ///   is a miss. A failure fails every key that has no answer yet.
  public init(_ get: @escaping @Sendable ([Key]) -> Signal<[Key: Value]>) {
    self.get = get
  }

  /// Collects single gets for a while, and answers them from one call.
  ///
  /// The window opens with the first get. A key that no caller waits for when the window closes is
  /// not in the call; when the last caller leaves, the call is cancelled. A get for a key whose
  /// call is already under way belongs to the next batch. To join the running get instead, apply
  /// ``Source/reusingInFlight(maxFlights:clock:)`` over this. Each get reports the progress of the
  /// whole call. Priority is ignored.
  ///
  /// - Parameters:
  ///   - window: The time between the first get and the call. Zero or less waits for a timer
  ///     without delay, which usually collects the gets of one loop, without a guarantee.
  ///   - max: The number of keys that starts the call before the window closes; at least one.
  ///   - clock: The clock that measures the window.
  /// - Returns: A source whose callers share its batches.
  /// - Complexity: O(1) to join a batch or to leave it, amortised.
  public func batching(
    window: Duration, max: Int, clock: some Clock<Duration> = ContinuousClock()
  ) -> Batched<Key, Value> {
    Batched(window: window, max: max, Scheduler(clock), get)
  }
}
