public import MillpondSignals

/// A signal that was assigned to a key.
@usableFromInline
@_fixed_layout
final class AssignedSignal<Value: Sendable>: Sendable {
  @usableFromInline let signal: Signal<Value>

  /// The position of the assignment in the order of all writes.
  @usableFromInline let revision: Revision

  @inlinable
  init(_ signal: Signal<Value>, _ revision: Revision) {
    self.signal = signal
    self.revision = revision
  }
}
