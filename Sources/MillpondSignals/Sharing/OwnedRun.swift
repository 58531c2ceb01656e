/// A replayed run with constants and variables of its owner, such as a table of runs.
@usableFromInline
@_fixed_layout
package final class OwnedRun<
  Value: Sendable, Constants: Sendable & ~Copyable, Variables: Sendable & ~Copyable
>: Run<Value>, @unchecked Sendable {
  // Sendable because what changes is touched only under the owner's lock.
  @usableFromInline package let constants: Constants
  @exclusivity(unchecked) @usableFromInline var storedVariables: Variables

  /// Creates a run that has not begun, and counts as awaited.
  @inlinable
  package init(_ constants: consuming Constants, _ variables: consuming Variables) {
    self.constants = constants
    storedVariables = variables
    super.init(isAwaited: true)
  }

  /// The variables, by accessors because other modules would check the exclusivity of a stored
  /// property.
  @inlinable
  package var variables: Variables {
    @inline(__always) _read { yield storedVariables }
    @inline(__always) _modify { yield &storedVariables }
  }
}
