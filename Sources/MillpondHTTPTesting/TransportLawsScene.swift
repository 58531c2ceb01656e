import Foundation
import LoopbackServer
import Millpond
import MillpondSignals
import MillpondTesting

/// A transport, and the ways to ask it.
struct TransportLawsScene: Sendable {
  let transport: any HTTPTransport
  let timeLimit: Duration

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
}

/// The events of an answer.
struct TransportAnswer: Sendable {
  let heads: [HTTPHead]
  let body: Data
  let progress: [SignalProgress]
  let end: Event<Never>?
  let violations: [Violation]

  /// Whether the first part is a head.
  let beginsWithHead: Bool

  /// Whether progress came after the head.
  let hasLateProgress: Bool

  init(_ recorder: Recorder<HTTPPart>) {
    let parts = recorder.values
    heads = parts.compactMap { if case .head(let head) = $0 { head } else { nil } }
      .filter { !(100..<200).contains($0.status) }
    body = parts.reduce(into: Data()) { body, part in
      if case .body(let bytes) = part { body += bytes }
    }
    progress = recorder.progress
    end = recorder.end
    violations = recorder.violations
    if case .body? = parts.first { beginsWithHead = false } else { beginsWithHead = true }
    let isHead = recorder.events.map { event in
      if case .next(.head) = event { true } else { false }
    }
    let isProgress = recorder.events.map { event in
      if case .progress = event { true } else { false }
    }
    let firstHead = isHead.firstIndex(of: true) ?? isHead.endIndex
    hasLateProgress = isProgress[firstHead...].contains(true)
  }

  var status: Int? { heads.first?.status }

  var isCompleted: Bool { if case .completed = end { true } else { false } }

  var isFailed: Bool { if case .failed = end { true } else { false } }

  /// The answer in words, for findings.
  var summary: String {
    let ending =
      switch end {
      case .completed: "completed"
      case .failed(let error): "failed with \(error)"
      case nil, .progress: "no end"
      }
    return "heads \(heads.map(\.status)), \(body.count) bytes, \(ending)"
  }
}

/// The violations of a law that a check has found.
struct TransportFindings: Sendable {
  private(set) var all: [String] = []

  mutating func expect(_ isKept: Bool, _ finding: @autoclosure () -> String) {
    if !isKept { all.append(finding()) }
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

extension LoopbackServer {
  func url(_ path: String) throws -> URL {
    guard let url = URL(string: baseURL + path) else { throw URLError(.badURL) }
    return url
  }
}
