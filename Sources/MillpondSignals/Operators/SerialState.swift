/// A variable of an object that is touched by one thread at a time: whoever its owner calls, serially.
///
/// Sendable because the owner says why, beside the property.
@usableFromInline
package final class SerialState<State>: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline package var value: State

  @inlinable
  package init(_ value: State) {
    self.value = value
  }
}
