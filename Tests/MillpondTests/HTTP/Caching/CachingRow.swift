import Foundation
import MillpondCore
import Testing

@testable import Millpond

/// A row of the table of decisions: a stored request and response, a new request, and a time.
///
/// Fields are written as "Name: value | Name: value"; a part without a name is `Cache-Control`. A
/// value of "@5" is the date five seconds after the response arrived. The response has the date
/// "@0" unless it states one, or "no Date".
struct CachingRow: Sendable, CustomTestStringConvertible {
  enum Question: Sendable {
    case reuse
    case storage
    case failure(status: Int?)
  }

  let question: Question
  let section: String
  var method = "GET"
  var status = 200
  var first = ""
  var response: String?
  var request = ""
  var now = 0
  var delay = 0

  /// Whether the transfer of the stored response broke off.
  var isBrokenOff = false
  let action: HTTPCacheDecision.Action
  let reason: HTTPCacheReason

  var testDescription: String {
    "\(section): \(method) [\(request)] of [\(status) \(response ?? "nothing")] at \(now)"
      + (isBrokenOff ? ", broken off" : "")
  }

  /// A row about the use of a stored response.
  static func reuse(
    _ section: String, _ response: String?, _ request: String, at now: Int = 0,
    _ action: HTTPCacheDecision.Action, _ reason: HTTPCacheReason, method: String = "GET",
    status: Int = 200, first: String = "", delay: Int = 0
  ) -> CachingRow {
    CachingRow(
      question: .reuse, section: section, method: method, status: status, first: first,
      response: response, request: request, now: now, delay: delay, action: action, reason: reason)
  }

  /// A row about the use of a stored response for a request without fields.
  static func reuse(
    _ section: String, _ response: String?, at now: Int = 0, _ action: HTTPCacheDecision.Action,
    _ reason: HTTPCacheReason, method: String = "GET", status: Int = 200, first: String = "",
    delay: Int = 0
  ) -> CachingRow {
    reuse(
      section, response, "", at: now, action, reason, method: method, status: status,
      first: first, delay: delay)
  }

  /// A row about the use of a stored response whose transfer broke off.
  static func completing(
    _ section: String, _ response: String, _ request: String, at now: Int = 0,
    _ action: HTTPCacheDecision.Action, _ reason: HTTPCacheReason, method: String = "GET",
    status: Int = 200, first: String = ""
  ) -> CachingRow {
    CachingRow(
      question: .reuse, section: section, method: method, status: status, first: first,
      response: response, request: request, now: now, isBrokenOff: true, action: action,
      reason: reason)
  }

  /// A row about the use of such a response for a request without fields.
  static func completing(
    _ section: String, _ response: String, at now: Int = 0, _ action: HTTPCacheDecision.Action,
    _ reason: HTTPCacheReason, method: String = "GET", status: Int = 200
  ) -> CachingRow {
    completing(
      section, response, "", at: now, action, reason, method: method, status: status)
  }

  /// A row about the storing of a response.
  static func storing(
    _ section: String, _ status: Int, _ response: String, _ request: String,
    _ action: HTTPCacheDecision.Action, _ reason: HTTPCacheReason, method: String = "GET"
  ) -> CachingRow {
    CachingRow(
      question: .storage, section: section, method: method, status: status, response: response,
      request: request, action: action, reason: reason)
  }

  /// A row about the storing of a response to a request without fields.
  static func storing(
    _ section: String, _ status: Int, _ response: String, _ action: HTTPCacheDecision.Action,
    _ reason: HTTPCacheReason
  ) -> CachingRow {
    storing(section, status, response, "", action, reason)
  }

  /// A row about the use of a stored response after a failure of the origin.
  static func failing(
    _ section: String, _ response: String, _ request: String, at now: Int,
    with failure: Int? = nil, _ action: HTTPCacheDecision.Action, _ reason: HTTPCacheReason
  ) -> CachingRow {
    CachingRow(
      question: .failure(status: failure), section: section, response: response, request: request,
      now: now, action: action, reason: reason)
  }

  /// A row about the use of a stored response after a failure, for a request without fields.
  static func failing(
    _ section: String, _ response: String, at now: Int, with failure: Int? = nil,
    _ action: HTTPCacheDecision.Action, _ reason: HTTPCacheReason
  ) -> CachingRow {
    failing(section, response, "", at: now, with: failure, action, reason)
  }
}

extension CachingRow {
  /// The time at which stored responses arrived: 2026-01-01 00:00:00.
  static let arrival = 1_767_225_600

  /// The decision of the rules.
  func decision(by rules: HTTPCacheRules) throws -> HTTPCacheDecision {
    let parsed = parsed(request, method: method)
    if case .storage = question {
      return rules.storage(of: HTTPHead(status: status, headers: responseFields), for: parsed)
    }
    let stored = try response.map { _ in try #require(self.stored) }
    let now = Self.time(now)
    guard case .failure(let status) = question else {
      return rules.decision(for: parsed, stored: stored, at: now)
    }
    return rules.decision(
      for: parsed, stored: try #require(stored), afterFailure: status, at: now)
  }

  /// The stored response; nil if no request could select it.
  var stored: StoredResponse? {
    StoredResponse(
      HTTPHead(status: status, headers: responseFields), to: parsed(first, method: "GET"),
      requestTime: Self.time(-delay), responseTime: Self.time(0),
      body: StoredBody(number: .none, byteCount: 1_000, isWhole: !isBrokenOff))
  }

  static func time(_ offset: Int) -> WallTime {
    WallTime(microseconds: Int64(clamping: arrival + offset) * 1_000_000)
  }

  func parsed(_ fields: String, method: String) -> ParsedRequest {
    ParsedRequest(method: method, headers: Self.fields(fields))
  }

  private var responseFields: HeaderFields {
    let text = response ?? ""
    if text.contains("no Date") { return Self.fields(text.replacing("no Date", with: "X: y")) }
    return Self.fields(text.contains("Date: ") ? text : "Date: @0 | " + text)
  }

  /// Parses fields in the notation of the table.
  static func fields(_ text: String) -> HeaderFields {
    HeaderFields(
      text.components(separatedBy: " | ").filter { !$0.isEmpty }.map { part in
        guard let colon = part.range(of: ": "), !part[..<colon.lowerBound].contains("=") else {
          return (name: "Cache-Control", value: part)
        }
        let value = String(part[colon.upperBound...])
        let date = value.hasPrefix("@") ? Int(value.dropFirst()).map { Self.date($0) } : nil
        return (name: String(part[..<colon.lowerBound]), value: date ?? value)
      })
  }

  /// Returns the date so many seconds after the arrival, as HTTP writes it.
  static func date(_ offset: Int) -> String {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(secondsFromGMT: 0)
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return format.string(from: Date(timeIntervalSince1970: Double(arrival + offset)))
  }
}
