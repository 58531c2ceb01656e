/// One line of the board: a fetch and its state.
struct Row: Sendable {
  let label: String
  var state = State.waiting

  /// The state of a fetch.
  enum State: Equatable, Sendable {
    case waiting

    /// The bytes received and, if the origin stated it, the total.
    case loading(completed: Int, total: Int?)

    /// A layer has answered.
    case done(layer: String, bytes: Int, time: Duration)

    /// The last subscriber left.
    case cancelled
    case failed(reason: String)
  }
}

extension Row.State {
  /// Whether the state is final.
  var isSettled: Bool {
    switch self {
    case .waiting, .loading: false
    case .done, .cancelled, .failed: true
    }
  }

  /// The share that is done; nil where a reason takes the place of a bar.
  var fraction: Double? {
    switch self {
    case .waiting: 0
    case .loading(let completed, let total):
      total.map { Double(completed) / Double(max(1, $0)) } ?? 0
    case .done: 1
    case .cancelled, .failed: nil
    }
  }

  var ink: Screen.Ink {
    switch self {
    case .waiting: .quiet
    case .loading: .underWay
    case .done("memory", _, _): .fromMemory
    case .done("disk", _, _): .fromDisk
    case .done: .fromAfar
    case .cancelled: .givenUp
    case .failed: .trouble
    }
  }

  /// Returns the state in columns, so that rows can be compared.
  func aligned(_ screen: Screen) -> String {
    switch self {
    case .loading(let completed, let total):
      let percent = "\(Int((fraction ?? 0) * 100)) %".trailing(in: 7)
      return percent + Amounts.bytes(completed).trailing(in: 11)
        + (total.map { " of \(Amounts.bytes($0))" } ?? "")
    case .done(let layer, let bytes, let time):
      return layer.leading(in: 7) + Amounts.bytes(bytes).trailing(in: 10)
        + Amounts.time(time, screen).trailing(in: 10)
    case .waiting, .cancelled, .failed: return sentence(screen)
    }
  }

  /// Returns the state as a part of a sentence: `network answered, 45.2 kB in 212 ms`.
  func sentence(_ screen: Screen) -> String {
    switch self {
    case .waiting: "waiting"
    case .loading: "loading"
    case .done(let layer, let bytes, let time):
      "\(layer) answered, \(Amounts.bytes(bytes)) in \(Amounts.time(time, screen))"
    case .cancelled: "cancelled: its last row scrolled away"
    case .failed(let reason): "failed: \(reason.harmless)"
    }
  }
}
