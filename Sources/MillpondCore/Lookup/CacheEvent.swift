public import MillpondSignals

/// An event in a layer, as part of a get or apart from one.
public struct CacheEvent: Sendable, CustomStringConvertible {
  /// The kinds of events.
  public enum Kind: Sendable {
    /// The layer had a value; with its age if known.
    case hit(age: Duration?)

    /// The layer had no value.
    case miss

    /// The layer had a value that was too old for the get, which counts as a miss.
    case tooOld(age: Duration)

    /// The layer had a value that its codec could not decode, which counts as a miss.
    case undecodable(any Error)

    /// The layer had no newer value than the stored one of an upper layer, which is current again.
    case revalidated

    /// The layer failed; a lower layer, if there is one, is asked.
    case failed(any Error)

    /// The layer started a flight that other gets can join.
    case started

    /// The get joined a flight of this age.
    case joined(age: Duration)

    /// The layer could not store a value from a lower layer.
    case fillFailed(any Error)

    /// The layer could not carry out a write.
    case writeFailed(any Error)

    /// The layer failed so often that its circuit opened: it is not asked for this time.
    case circuitOpened(for: Duration)

    /// The layer answered an attempt, and its circuit closed.
    case circuitClosed
  }

  /// The layer's name; its title if it has none.
  public let layer: String

  /// The key in that layer; nil if the event concerns all keys.
  public let key: (any Hashable & Sendable)?

  /// The kind of the event.
  public let kind: Kind

  /// The time that the layer took, if it was measured.
  public var duration: Duration? {
    nanoseconds.map { .nanoseconds($0) }
  }

  /// The time that the layer took: a `Duration` would cost each event a division.
  let nanoseconds: Int64?

  package init(
    _ kind: Kind, layer: String, key: (any Hashable & Sendable)?, nanoseconds: Int64? = nil
  ) {
    self.layer = layer
    self.key = key
    self.kind = kind
    self.nanoseconds = nanoseconds
  }

  /// The same event, where something else happened.
  func with(_ kind: Kind) -> CacheEvent {
    CacheEvent(kind, layer: layer, key: key, nanoseconds: nanoseconds)
  }

  /// A single line about the event, without the key and the secrets of URLs in errors.
  public var description: String { sentence.withoutSecrets }

  private var sentence: String {
    let time = duration.map { " \($0.brief)" } ?? ""
    return switch kind {
    case .hit(let age): "\(layer): hit\(time)\(age.map { ", \($0.brief) old" } ?? "")"
    case .miss: "\(layer): miss\(time)"
    case .tooOld(let age): "\(layer): too old (\(age.brief))\(time)"
    case .undecodable(let error): "\(layer): undecodable, \(error)\(time)"
    case .revalidated: "\(layer): not modified\(time)"
    case .failed(let error): "\(layer): failed\(time), \(error)"
    case .started: "\(layer): started a flight"
    case .joined(let age): "\(layer): joined a flight of \(age.brief)"
    case .fillFailed(let error): "\(layer): not stored, \(error)"
    case .writeFailed(let error): "\(layer): not written, \(error)"
    case .circuitOpened(let pause): "\(layer): circuit open for \(pause.brief)"
    case .circuitClosed: "\(layer): circuit closed"
    }
  }
}

/// A receiver of the events of a get.
@usableFromInline
package protocol CacheEventListener: AnyObject, Sendable {
  /// The clock that times the layers.
  var time: ExactTime { get }

  /// Whether it hears of one get alone, so that it leaves a flight together with its caller.
  ///
  /// The others stay until the flight ends, since a layer may report something after all callers
  /// have left, such as a fill that failed.
  var isOfOneGet: Bool { get }

  /// Receives an event, on the thread on which it happened, with no lock held.
  func receive(_ event: CacheEvent)
}
