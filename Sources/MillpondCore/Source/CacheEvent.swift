/// Something that happened in a layer: to a question, or beside one.
public struct CacheEvent: Sendable, CustomStringConvertible {
  /// What happened.
  public enum Kind: Sendable {
    /// The layer had a value; its age, where it is known.
    case hit(age: Duration?)

    /// It had none.
    case miss

    /// It had one that was too old for the question, which counts as a miss.
    case tooOld(age: Duration)

    /// It had one that its codec could not read, which counts as a miss.
    case undecodable(any Error)

    /// It failed; a lower layer is asked.
    case failed(any Error)

    /// A flight was started, that others can join.
    case started

    /// A flight was joined, that had been under way for so long.
    case joined(age: Duration)

    /// What a lower layer gave could not be stored here.
    case fillFailed(any Error)

    /// What was told could not be carried out.
    case tellingFailed(any Error)
  }

  /// The layer's name; what it is, if it has none.
  public let layer: String

  /// What was asked for, by the key of that layer; nil where it concerns all keys.
  public let key: (any Hashable & Sendable)?

  /// What happened.
  public let kind: Kind

  /// How long the layer took, where that was measured.
  public let duration: Duration?

  package init(
    _ kind: Kind, layer: String, key: (any Hashable & Sendable)?, duration: Duration? = nil
  ) {
    self.layer = layer
    self.key = key
    self.kind = kind
    self.duration = duration
  }

  /// One line about it, without the key.
  public var description: String {
    let time = duration.map { " \($0.brief)" } ?? ""
    return switch kind {
    case .hit(let age): "\(layer): hit\(time)\(age.map { ", \($0.brief) old" } ?? "")"
    case .miss: "\(layer): miss\(time)"
    case .tooOld(let age): "\(layer): too old, \(age.brief)\(time)"
    case .undecodable(let error): "\(layer): undecodable, \(error)\(time)"
    case .failed(let error): "\(layer): failed, \(error)\(time)"
    case .started: "\(layer): started a flight"
    case .joined(let age): "\(layer): joined a flight of \(age.brief)"
    case .fillFailed(let error): "\(layer): not stored, \(error)"
    case .tellingFailed(let error): "\(layer): not told, \(error)"
    }
  }
}
