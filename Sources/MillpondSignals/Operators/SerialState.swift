/// State of one run that only its upstream touches.
///
/// Sendable because the upstream calls serially, and nobody else has it.
@usableFromInline
final class SerialState<State>: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline var value: State

  @inlinable
  init(_ value: State) {
    self.value = value
  }
}
