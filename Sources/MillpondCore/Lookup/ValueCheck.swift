import MillpondSignals

/// A check of a layer's values by a codec above it: a value that it cannot decode is no hit.
@usableFromInline
final class ValueCheck: Sendable {
  private struct State: Sendable {
    var waiting: [@Sendable (CacheEvent.Kind?) -> Void] = []
    var isOver = false
  }

  /// The terms of the get around the codec; a codec above that one may refuse the decoded value.
  private let outer: LookupDetails
  private let state = Locked(State())

  /// Creates the check of the values of a get that `lookup` describes.
  @usableFromInline
  init(within lookup: Lookup) {
    outer = lookup.details
  }

  /// Calls `report` once the next value has been checked, with its flaw or nil; at once, with nil,
  /// if the get has ended.
  func wait(_ report: @escaping @Sendable (CacheEvent.Kind?) -> Void) {
    let isOver = state.withLock { state in
      if !state.isOver { state.waiting.append(report) }
      return state.isOver
    }
    if isOver { pass(nil, to: report) }
  }

  /// Reports the pending answers of the layers.
  ///
  /// - Parameter flaw: The flaw of the value; nil if it has none.
  @usableFromInline
  func settle(_ flaw: CacheEvent.Kind?) {
    let reports = state.withLock { exchange(&$0.waiting, with: []) }
    for report in reports { pass(flaw, to: report) }
  }

  /// Ends the check with its get: a value that was sent, but has not reached the codec, was found.
  @usableFromInline
  func end() {
    state.withLock { $0.isOver = true }
    settle(nil)
  }

  private func pass(
    _ flaw: CacheEvent.Kind?, to report: @escaping @Sendable (CacheEvent.Kind?) -> Void
  ) {
    if flaw == nil, let check = outer.check { check.wait(report) } else { report(flaw) }
  }
}
