/// A variable that one thread at a time touches, such as the state of a run, whose upstream calls
/// serially.
///
/// Sendable for that reason, which the compiler cannot see. Any other use states its own reason.
@usableFromInline
package final class SerialState<State>: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline package var value: State

  @inlinable
  package init(_ value: State) {
    self.value = value
  }
}
