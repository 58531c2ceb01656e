public import Dispatch

extension Source {
  /// Delivers all answers on `queue`, immediate hits included; `dispatch` in Carlos.
  ///
  /// Writes are carried out at once, on the caller's thread. Apply this over
  /// ``Source/reusingInFlight(maxFlights:clock:)``: under it, late subscribers may be served on
  /// another thread.
  ///
  /// - Parameter queue: A serial or concurrent queue; deliveries of one get never overlap.
  @inlinable
  public func delivered(on queue: DispatchQueue) -> Governed<Self> {
    Governed(self, by: .queue(queue))
  }
}
