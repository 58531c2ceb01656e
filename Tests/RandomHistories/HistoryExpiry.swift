import MillpondCore

/// A judge of the lifetime of values, with a clock that may be set.
struct HistoryExpiry<Key: Hashable & Sendable, Value: Hashable & Sendable> {
  typealias Content = HistoryLog<Key, Value>.Content

  /// The limit below which a step back of the clock expires nothing.
  private static var tolerance: Duration { .seconds(60) }

  /// The time for which a clock that is set back may seem to stand still.
  private static var pause: Duration { .seconds(1) }

  private let content: Content
  private let life: Duration

  init(_ content: Content, _ life: Duration) {
    self.content = content
    self.life = life
  }

  /// Returns a finding for a value that had expired when the get began.
  func overdue(_ view: HistoryView<Key, Value>) -> String? {
    for (value, _, _) in view.values {
      guard let making = content.makings[value], making.time < view.began,
        !mayJoin(view)
      else { continue }
      let age = view.beganAt - making.at
      if (.zero - Self.tolerance..<life).contains(age) { continue }
      let moves = moves(since: making.time, until: view.began)
      if let last = moves.last(where: { $0.isSet && $0.by < .zero }),
        passed(moves.filter { $0.time > last.time }) < life + Self.pause
      {
        continue
      }
      return "\(view.name) gave \(value), which was to last for \(life),"
        + " though \(passed(moves)) had passed and the clock showed \(age) more"
    }
    return nil
  }

  /// Returns whether a value set at one moment must still be present at another.
  ///
  /// It must if no clock reading in between is a reason to drop it.
  func lasts(since time: Int, until other: Int) -> Bool {
    var (reading, lowest, forward) = (Duration.zero, Duration.zero, Duration.zero)
    for move in moves(since: time, until: other) {
      reading += move.by
      lowest = min(lowest, reading)
      forward += max(.zero, move.by)
    }
    return forward < life && lowest > .zero - Self.tolerance
  }

  /// Returns whether the get may have joined a running fetch, which carries its latest value and
  /// the value that was kept when it began.
  private func mayJoin(_ view: HistoryView<Key, Value>) -> Bool {
    content.fetches.contains { fetch in
      fetch.key == view.key && fetch.asked < view.began
        && (fetch.cancelled ?? fetch.ended ?? .max) > view.began
    }
  }

  private func moves(since time: Int, until other: Int) -> [HistoryClockMove] {
    content.clockMoves.filter { $0.time > time && $0.time < other }
  }

  private func passed(_ moves: [HistoryClockMove]) -> Duration {
    moves.reduce(.zero) { $0 + ($1.isSet ? .zero : $1.by) }
  }
}
