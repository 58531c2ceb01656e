import Foundation
import MillpondCore
public import MillpondSignals

extension TransferError: RetryDelaying {
  /// The origin's `Retry-After`: seconds, or the time to a date by the origin's own clock.
  public var retryDelay: Duration? {
    if case .status(_, let headers, _) = self { headers.retryDelay } else { nil }
  }

  /// Whether the failure is not transient (`isTransient`), as a missing page is.
  public var isPermanent: Bool { !isTransient }
}

extension HeaderFields {
  /// The pause for which `Retry-After` asks, less the age of an answer that was stored; nil without
  /// a valid one.
  var retryDelay: Duration? {
    guard let value = self["Retry-After"] else { return nil }
    let age = StoredAnswer.age(self) ?? 0
    if let delay = Duration(secondsIn: value) { return max(.zero, delay - .seconds(age)) }
    guard let date = HTTPDate(value) else { return nil }
    let now = self["Date"].flatMap { HTTPDate($0) }.map { $0.seconds + age }
    return .seconds(max(0, date.seconds - (now ?? Int(Date().timeIntervalSince1970))))
  }
}

extension Duration {
  /// Parses a number of seconds; at most a hundred years.
  fileprivate init?(secondsIn text: String) {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    let longest = 100 * 366 * 86_400
    self = .seconds(min(Int(text) ?? longest, longest))
  }
}
