import Foundation
import MillpondSockets
import MillpondCore
import MillpondSignals

/// One connection with one request, on a thread of its own.
struct InspectorConnection {
  private var stream: ConnectionStream
  private let gate: RequestAdmission
  private let source: InspectedSource
  private let pages: OpenPages
  private let times: ServerTimeouts

  init(
    _ stream: ConnectionStream, _ gate: RequestAdmission, _ source: InspectedSource,
    _ pages: OpenPages,
    _ times: ServerTimeouts
  ) {
    self.stream = stream
    self.gate = gate
    self.source = source
    self.pages = pages
    self.times = times
  }

  /// Serves the request, and closes.
  mutating func serve() {
    do {
      try answer(try nextHead())
      stream.end(timeLimit: .seconds(1))
    } catch let refused as RequestAdmission.Refused {
      try? send(InspectorResponse(refusing: refused.status).bytes)
      stream.end(timeLimit: .seconds(1))
    } catch {
      stream.close()
    }
  }

  private mutating func answer(_ head: RequestHead) throws {
    switch try gate.route(head) {
    case .page: try send(InspectorPage.response().bytes)
    case .events: try sendStates()
    case .metrics: try send(InspectorResponse.metrics(of: source.topology()).bytes)
    case .remove: try send(remove(body(of: head)))
    case .trim: try send(trim(body(of: head)))
    }
  }
}

// MARK: - Bytes

extension InspectorConnection {
  private mutating func nextHead() throws -> RequestHead {
    let deadline = ContinuousClock.now + times.request
    while true {
      do {
        if let head = try RequestHead.parse(stream.input, limit: RequestAdmission.headByteLimit) {
          return head
        }
      } catch {
        throw RequestAdmission.Refused(status: error.status)
      }
      try stream.receive(until: deadline)
    }
  }

  private mutating func body(of head: RequestHead) throws -> Data {
    let deadline = ContinuousClock.now + times.request
    _ = stream.take(head.byteCount)
    while stream.input.count < head.bodyByteCount { try stream.receive(until: deadline) }
    return Data(stream.take(head.bodyByteCount))
  }

  private mutating func send(_ bytes: [UInt8]) throws {
    var sent = 0
    try stream.send(bytes[...], counting: &sent, until: .now + times.response)
  }

  private mutating func send(_ outcome: ActionOutcome) throws {
    let text = String(decoding: try JSONEncoder().encode(outcome), as: UTF8.self)
    try send(InspectorResponse("application/json", text).bytes)
  }
}

// MARK: - States

extension InspectorConnection {
  /// Sends the state again and again, until the browser leaves or does not read.
  ///
  /// The next state is made when the last one has been sent, so a slow browser receives the newest.
  private mutating func sendStates() throws {
    let log = ActivityLog()
    guard let page = pages.add(log) else { throw RequestAdmission.Refused(status: 503) }
    defer { pages.remove(page) }
    try send(InspectorResponse.eventStream.bytes)
    let bag = DisposableBag()
    defer { bag.dispose() }
    let monitors = source.topology().observedMonitors
    for monitor in monitors { log.observe(monitor, until: bag) }
    let encoder = JSONEncoder()
    while true {
      let next = ContinuousClock.now + times.interval
      let snapshot = Snapshot(
        of: source, source.topology(), log.news(limit: Snapshot.getLimit),
        isMonitored: !monitors.isEmpty, at: .now)
      try send(Array("data: ".utf8) + encoder.encode(snapshot) + Array("\n\n".utf8))
      try stream.pause(until: next)
    }
  }
}

// MARK: - Actions

/// The outcome of an action, in words.
struct ActionOutcome: Encodable, Sendable {
  let isDone: Bool
  let words: String
}

extension InspectorConnection {
  private func remove(_ body: Data) throws -> ActionOutcome {
    struct Wish: Decodable { let key: String }
    guard source.permissions.contains(.removing) else {
      throw RequestAdmission.Refused(status: 403)
    }
    guard let wish = try? JSONDecoder().decode(Wish.self, from: body) else {
      throw RequestAdmission.Refused(status: 400)
    }
    // Only keys that were not seen have to be searched for in the whole cache.
    let removals = keys(wish.key).compactMap(source.remove)
    let removal = removals.isEmpty ? source.removeAll(wish.key) : .merge(removals)
    guard let removal else {
      return ActionOutcome(isDone: false, words: "This source cannot be written.")
    }
    return outcome(of: removal, "removed")
  }

  /// Returns the keys with this text among the latest gets and the flights.
  private func keys(_ text: String) -> [any Hashable & Sendable] {
    let flights = source.topology().allFlights.map(\.key).filter { KeyText($0).whole == text }
    var known = Set<AnyHashable>()
    return (pages.keys(text) + flights).filter { known.insert(AnyHashable($0)).inserted }
  }

  private func trim(_ body: Data) throws -> ActionOutcome {
    struct Wish: Decodable {
      let part: String
      let share: Double
    }
    guard source.permissions.contains(.trimming) else {
      throw RequestAdmission.Refused(status: 403)
    }
    guard let wish = try? JSONDecoder().decode(Wish.self, from: body), (0...1).contains(wish.share)
    else { throw RequestAdmission.Refused(status: 400) }
    guard let trim = source.topology().part(wish.part)?.trim else {
      throw RequestAdmission.Refused(status: 404)
    }
    trim(wish.share)
    return ActionOutcome(isDone: true, words: "trimmed")
  }

  /// Waits for the outcome of a write, which continues if it takes longer.
  private func outcome(of write: Signal<Void>, _ words: String) -> ActionOutcome {
    let end = Monitor<ActionOutcome?>(nil)
    let waiting = write.subscribe(
      onFailed: { error in
        end.change { $0 = ActionOutcome(isDone: false, words: error.words) }
      },
      onCompleted: { end.change { $0 = ActionOutcome(isDone: true, words: words) } })
    defer { waiting.dispose() }
    _ = end.wait(until: .now + times.outcome) { $0 != nil }
    return end.withLock { $0 } ?? ActionOutcome(isDone: true, words: "being \(words)")
  }
}
