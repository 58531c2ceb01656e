/// State of one run that only its upstream touches.
///
/// Sendable because the upstream calls serially, and nobody else has it.
@usableFromInline
package final class SerialState<State>: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline package var value: State

  @inlinable
  package init(_ value: State) {
    self.value = value
  }
}
