import Foundation
import MillpondSignals

/// A step of a transfer that several callers share.
enum TransferStep: Sendable {
  /// The stored response is the answer: it was confirmed, or stands in after a failure.
  case stored(StoredResponse)

  /// The next part of the origin's answer, and its number.
  case part(HTTPPart, Int, TransferLog)
}

/// The parts of an answer so far, for callers that join later.
///
/// A flight repeats only its latest value, so a caller that joins takes the earlier parts from
/// here.
final class TransferLog: Sendable {
  private struct State: Sendable {
    var parts: [HTTPPart] = []
    var count = 0
    var byteCount = 0
    var isKept = true
    var isClaimed = false

    /// The response whose beginning the parts are, if it is to be stored, and why.
    var beginning: (response: StoredResponse, decision: HTTPCacheDecision)?
  }

  private let state = Locked(State())
  private let byteLimit: Int

  /// - Parameter byteLimit: The greatest number of bytes to keep; beyond it, nothing is.
  init(byteLimit: Int) {
    self.byteLimit = byteLimit
  }

  /// Adds a part; returns its number.
  func add(_ part: HTTPPart) -> Int {
    let (number, dropped) = state.withLock { state -> (Int, [HTTPPart]) in
      if case .body(let bytes) = part { state.byteCount += bytes.count }
      state.count += 1
      if state.isKept, state.byteCount <= byteLimit {
        state.parts.append(part)
        return (state.count - 1, [])
      }
      state.isKept = false
      return (state.count - 1, exchange(&state.parts, with: []))
    }
    withExtendedLifetime(dropped) {}  // released here, not under the lock
    return number
  }

  /// Stops keeping parts: no other caller may have them.
  func keepNothing() {
    state.discard { state in
      state.isKept = false
      return exchange(&state.parts, with: [])
    }
  }

  /// Returns the parts with these numbers; nil if they are not kept.
  func parts(_ numbers: Range<Int>) -> [HTTPPart]? {
    state.withLock { state in
      state.isKept && numbers.upperBound <= state.parts.count ? Array(state.parts[numbers]) : nil
    }
  }

  /// The number of bytes of the body so far, kept or not.
  var byteCount: Int { state.withLock { $0.byteCount } }

  /// The body so far; nil if it is not kept.
  var body: Data? { state.withLock { $0.isKept ? $0.parts : nil }?.joinedBody }

  /// Notes that the parts are the beginning of a response that is to be stored.
  func begin(_ response: StoredResponse, _ decision: HTTPCacheDecision) {
    state.withLock { $0.beginning = (response, decision) }
  }

  /// Returns the response that was to be stored; nil afterwards, so that it is stored once, as a
  /// whole or what has arrived of it.
  func takeBeginning() -> (response: StoredResponse, decision: HTTPCacheDecision)? {
    state.withLock { exchange(&$0.beginning, with: nil) }
  }

  /// Returns whether the caller may have the answer from its first part on, which only one may if
  /// it is not kept.
  func claim() -> Bool {
    state.withLock { state in !exchange(&state.isClaimed, with: true) || state.isKept }
  }
}

extension [HTTPPart] {
  /// The bytes of the body, in order.
  var joinedBody: Data {
    var count = 0
    for case .body(let bytes) in self { count += bytes.count }
    var body = Data(capacity: count)
    for case .body(let bytes) in self { body.append(bytes) }
    return body
  }
}
