package import MillpondSignals

/// The reports of a layer that is asked again if it has no value, so that one miss is one miss.
///
/// They are held until it is known whether this answer counts, and then passed on or dropped.
package final class DeferredReports: CacheEventListener {
  package let time: ExactTime
  package var isOfOneGet: Bool { true }
  private let original: Lookup
  private let state = Locked(State())

  private struct State: Sendable {
    var events: [CacheEvent] = []
    var passesOn = false
  }

  /// Creates the reports of a get that `lookup` describes; nil if it can have no listener.
  package init?(of lookup: Lookup) {
    guard let time = lookup.details.time else { return nil }
    self.time = time
    original = lookup
  }

  /// The lookup for the layer.
  package var lookup: Lookup { original.reporting(onlyTo: self) }

  /// Passes on the events so far, and later ones as they come.
  package func passOn() {
    let events = state.withLock { state in
      state.passesOn = true
      return exchange(&state.events, with: [])
    }
    for event in events { original.details.send(event) }
  }

  package func receive(_ event: CacheEvent) {
    let passesOn = state.withLock { state in
      if !state.passesOn { state.events.append(event) }
      return state.passesOn
    }
    if passesOn { original.details.send(event) }
  }
}
