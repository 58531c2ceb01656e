/// A variable that one thread at a time touches, such as the state of a run: its upstream calls serially.
///
/// Sendable because of that, which the compiler can't see. A use for anything else says why it holds.
@usableFromInline
package final class SerialState<State>: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline package var value: State

  @inlinable
  package init(_ value: State) {
    self.value = value
  }
}
