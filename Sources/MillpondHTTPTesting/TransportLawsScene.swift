import Foundation
import LoopbackServer
import Millpond
import MillpondSignals
import MillpondTesting

/// A transport, the ways to ask it, and the violations of a law that a check has found.
struct TransportLawsScene: Sendable {
  let transport: any HTTPTransport
  let timeLimit: Duration
  private(set) var findings: [String] = []

  init(_ transport: any HTTPTransport, _ timeLimit: Duration) {
    self.transport = transport
    self.timeLimit = timeLimit
  }

  /// Sends a request, and waits for the end of its answer, or until timeLimit runs out.
  func answer(to request: HTTPRequest) async -> TransportAnswer {
    await answer(to: transport.send(request))
  }

  func answer(to signal: Signal<HTTPPart>) async -> TransportAnswer {
    let recorder = Recorder<HTTPPart>().subscribe(to: signal)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { _ = try? await recorder.ended() }
      group.addTask { [timeLimit] in try? await Task.sleep(for: timeLimit) }
      await group.next()
      group.cancelAll()
    }
    defer { recorder.dispose() }
    return TransportAnswer(recorder)
  }

  /// Waits until a condition of an origin holds; returns false if timeLimit runs out.
  func eventually(
    _ origin: LoopbackServer, _ condition: @escaping @Sendable (ServerSnapshot) -> Bool
  ) async -> Bool {
    await origin.eventually(timeout: timeLimit, condition)
  }

  mutating func expect(_ isKept: Bool, _ finding: @autoclosure () -> String) {
    if !isKept { findings.append(finding()) }
  }

  /// Expects a complete answer with this status and body.
  mutating func expect(
    _ answer: TransportAnswer, _ status: Int = 200, _ body: [UInt8]? = nil, to name: String
  ) {
    let isRight =
      answer.heads.map(\.status) == [status] && answer.isCompleted
      && (body.map { Data($0) == answer.body } ?? true)
    let wanted = "status \(status)" + (body.map { ", \($0.count) bytes" } ?? "") + ", completed"
    expect(isRight, "\(name): \(answer.summary), not \(wanted)")
    expect(answer.violations.isEmpty, "\(name): \(answer.violations)")
  }
}

/// The events of an answer.
struct TransportAnswer: Sendable {
  let events: [Event<HTTPPart>]
  let violations: [Violation]

  init(_ recorder: Recorder<HTTPPart>) {
    events = recorder.events
    violations = recorder.violations
  }

  private var parts: [HTTPPart] {
    events.compactMap { if case .next(let part) = $0 { part } else { nil } }
  }

  /// The final heads.
  var heads: [HTTPHead] {
    parts.compactMap { if case .head(let head) = $0 { head } else { nil } }
      .filter { !(100..<200).contains($0.status) }
  }

  var body: Data {
    parts.reduce(into: Data()) { body, part in
      if case .body(let bytes) = part { body += bytes }
    }
  }

  var progress: [SignalProgress] { Self.progress(events[...]) }

  /// Whether progress came after the head.
  var hasLateProgress: Bool {
    let isHead = { (event: Event<HTTPPart>) in if case .next(.head) = event { true } else { false }
    }
    return !Self.progress(events.drop { !isHead($0) }).isEmpty
  }

  private static func progress(_ events: ArraySlice<Event<HTTPPart>>) -> [SignalProgress] {
    events.compactMap { if case .progress(let progress) = $0 { progress } else { nil } }
  }

  /// Whether the first part is a head.
  var beginsWithHead: Bool { if case .body? = parts.first { false } else { true } }

  var isCompleted: Bool { if case .completed? = events.last { true } else { false } }

  var isFailed: Bool { if case .failed? = events.last { true } else { false } }

  /// The answer in words, for findings.
  var summary: String {
    let ending =
      switch events.last {
      case .completed: "completed"
      case .failed(let error): "failed with \(error)"
      case nil, .next, .progress: "no end"
      }
    return "heads \(heads.map(\.status)), \(body.count) bytes, \(ending)"
  }
}

extension LoopbackServer {
  func url(_ path: String) throws -> URL {
    guard let url = URL(string: baseURL + path) else { throw URLError(.badURL) }
    return url
  }
}
