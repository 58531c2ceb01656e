import MillpondSignals

/// The times for which an origin is not asked about stored responses, after it has failed to answer
/// a question about them.
///
/// By the calendar, as all times of an HTTP cache: a pause is over at once if the clock steps back.
final class OriginPauses: Sendable {
  struct Pause: Sendable {
    let begin: WallTime
    let end: WallTime

    /// Whether the origin has asked for it by `Retry-After`; otherwise only refreshes wait.
    let isStated: Bool

    func isOn(at time: WallTime) -> Bool { begin <= time && time < end }
  }

  /// The pause after a failure if the origin states none.
  private static let usual = Duration.seconds(5)

  /// The greatest number of pauses; beyond it, origins are asked too often.
  private static let limit = 1_000

  private let pauses = Locked<[Fingerprint: Pause]>([:])

  /// Begins a pause of the questions about a response.
  func begin(_ stored: StoredResponse, for stated: Duration?, at now: WallTime) {
    let length = stated.map { max($0, .zero) } ?? Self.usual
    let pause = Pause(begin: now, end: now.after(.after(length)), isStated: stated != nil)
    pauses.withLock { pauses in
      if pauses.count >= Self.limit { pauses = pauses.filter { $0.value.isOn(at: now) } }
      if pauses.count >= Self.limit { pauses = [:] }
      pauses[stored.body.number] = pause
    }
  }

  func end(_ stored: StoredResponse) {
    pauses.withLock { pauses in
      if !pauses.isEmpty { pauses[stored.body.number] = nil }
    }
  }

  /// The pause of the questions about a response; nil if there is none.
  func pause(of stored: StoredResponse, at now: WallTime) -> Pause? {
    pauses.withLock { $0[stored.body.number] }.flatMap { $0.isOn(at: now) ? $0 : nil }
  }
}
