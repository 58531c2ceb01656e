public import MillpondSignals

/// A receiver of the events of a get.
@usableFromInline
package protocol CacheEventListener: AnyObject, Sendable {
  /// The clock that times the layers.
  var time: ExactTime { get }

  /// Receives an event, on the thread on which it happened, with no lock held.
  func receive(_ event: CacheEvent)
}
