import MillpondCore
import MillpondSignals

extension CacheEvent {
  /// The layer's answer in words, without its name.
  var words: String {
    let time = duration.map { " in \($0.brief)" } ?? ""
    return switch kind {
    case .hit(let age?) where age >= .milliseconds(1): "hit\(time), \(age.brief) old"
    case .hit: "hit\(time)"
    case .miss: "miss\(time)"
    case .tooOld(let age): "too old (\(age.brief))"
    case .revalidated: "not modified"
    case .undecodable(let error): "undecodable: \(error.words)"
    case .failed(let error): "failed\(time): \(error.words)"
    case .started: "started a flight"
    case .joined(let age): "joined a flight of \(age.brief)"
    case .fillFailed(let error): "not stored: \(error.words)"
    case .writeFailed(let error): "not written: \(error.words)"
    case .circuitOpened(let pause): "circuit open for \(pause.brief)"
    case .circuitClosed: "circuit closed"
    }
  }

  /// The kind in one word, by which the page chooses a colour.
  var tone: String {
    switch kind {
    case .hit, .revalidated, .circuitClosed: "hit"
    case .miss, .tooOld: "miss"
    case .started, .joined: "flight"
    case .undecodable, .failed, .fillFailed, .writeFailed, .circuitOpened: "failure"
    }
  }
}

extension Error {
  /// The error as text of a limited length, without the secrets of URLs in it.
  var words: String { "\(self)".withoutSecrets.shortened(to: 300) }
}

extension Duration {
  /// The duration in seconds.
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
