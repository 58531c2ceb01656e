import Foundation
import MillpondCore
import Testing

@testable import Millpond

@Suite struct HTTPCacheRulesTests {
  static let rows =
    CachingRow.freshness + CachingRow.directives + CachingRow.selection
    + CachingRow.storageAndFailures + CachingRow.incomplete

  @Test(arguments: rows)
  func `the decision and its reason are those of the standard`(row: CachingRow) throws {
    let decision = try row.decision(by: .standard)

    #expect(decision.action == row.action)
    #expect(decision.reason == row.reason)
  }

  @Test func `the table has at least 250 rows, and each action and reason of a rule`() {
    #expect(Self.rows.count >= 250)
    let actions = Set(Self.rows.map(\.action))
    #expect(actions == Set(HTTPCacheDecision.Action.allCases))
    let reasons = Set(Self.rows.map(\.reason))
    // A setting, a redirect and a limit are tested elsewhere: they are no fields.
    let others: Set<HTTPCacheReason> = [.unreachable, .redirected, .tooLarge, .confirmed]
    #expect(reasons.union(others) == Set(HTTPCacheReason.allCases))
  }

  @Test func `no two rows ask the same`() {
    let questions = Self.rows.map { "\($0.testDescription) \($0.first) \($0.delay) \($0.question)" }
    #expect(Set(questions).count == questions.count)
  }

  @Test(arguments: [(60, HTTPCacheDecision.Action.answer), (61, .forward)])
  func `an unreachable origin leaves what is stale, if the rules allow it`(
    staleness: Int, action: HTTPCacheDecision.Action
  ) throws {
    let rules = HTTPCacheRules(staleIfUnreachable: .seconds(60))
    let row = CachingRow.failing(
      "9111 §4.2.4", "max-age=9", at: 9 + staleness, action, .unreachable)

    #expect(try row.decision(by: rules).action == action)
    let refused = CachingRow.failing(
      "9111 §4.2.4", "max-age=9", at: 10, with: 503, .forward, .stale)
    #expect(try refused.decision(by: rules).action == .forward)
  }

  @Test(arguments: [nil, 503])
  func `a response that broke off stands in for no failure`(status: Int?) throws {
    var row = CachingRow.failing(
      "9111 §3.3", "max-age=9, stale-if-error=30 | ETag: \"a\"", at: 10, with: status, .answer,
      .staleIfError)
    #expect(try row.decision(by: .standard).action == .answer)

    row.isBrokenOff = true

    #expect(try row.decision(by: .standard).action == .forward)
    #expect(try row.decision(by: .standard).reason == .incomplete)
  }

  @Test func `without a limit for estimates nothing is estimated`() throws {
    let row = CachingRow.reuse(
      "9111 §4.2.2", "Last-Modified: @-9999999", at: 0, .validate, .stale)

    #expect(try row.decision(by: HTTPCacheRules(heuristicLimit: .zero)).reason == .stale)
  }

  @Test func `a response from another origin is not stored for the requested URL`() {
    let head = HTTPHead(
      status: 200, headers: ["Cache-Control": "max-age=60"], redirection: Redirection())
    let request = ParsedRequest(method: "GET", headers: [:])

    #expect(HTTPCacheRules.standard.storage(of: head, for: request).reason == .redirected)
  }

  @Test func `a decision says its age, the rest of its freshness and its rule`() throws {
    let row = CachingRow.reuse("", "max-age=60 | ETag: \"a\"", at: 90, .validate, .stale)

    let decision = try row.decision(by: .standard)

    #expect(decision.age == .seconds(90))
    #expect(decision.freshFor == .seconds(-30))
    #expect("\(decision)" == "validate: it is stale (RFC 9111 §4.2)")
  }

  @Test func `settings and times beyond all bounds are clamped`() throws {
    let rules = HTTPCacheRules(
      heuristicLimit: .seconds(Int64.max), staleIfUnreachable: .seconds(-1))
    let request = HTTPRequest(url: try #require(URL(string: "http://a/")))
    let head = HTTPHead(status: 200, headers: ["Last-Modified": CachingRow.date(-1_000)])
    let times = [-Double.infinity, -1e300, -1e9, 0, 4_300_000_000, 1e300, .infinity, .nan]
      .map { Date(timeIntervalSince1970: $0) }

    for (sent, arrived) in times.flatMap({ sent in times.map { (sent, $0) } }) {
      let stored = try #require(
        StoredResponse(head, to: request, requestTime: sent, responseTime: arrived))
      for now in times {
        let decision = rules.decision(for: request, stored: stored, at: now)
        #expect(decision.age.map { $0 >= .zero } ?? (decision.reason == .unknownAge))
      }
    }
  }
}
