/// A replayed run with a place among others, such as in a dictionary of runs.
@usableFromInline
package final class PlacedRun<
  Value: Sendable, Place: Sendable & ~Copyable, State: Sendable & ~Copyable
>: ReplayedRun<Value>, @unchecked Sendable {
  // Sendable because the state is touched only under the lock of what the run is in.
  @usableFromInline package let place: Place
  @exclusivity(unchecked) @usableFromInline var storedState: State

  /// Creates a run that has not begun, and for which others wait.
  @inlinable
  package init(in place: consuming Place, _ state: consuming State) {
    self.place = place
    storedState = state
    super.init(bits: LifetimeCore.awaited)
  }

  /// The state of the run in its place, by accessors because other modules would check the
  /// exclusivity of a variable.
  @inlinable
  package var state: State {
    @inline(__always) _read { yield storedState }
    @inline(__always) _modify { yield &storedState }
  }
}
