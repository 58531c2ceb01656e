import MillpondSignals

/// The commands that take back what others have left, and that wait for a connection or for a server
/// that carries them out.
struct TakeBackQueue: Sendable {
  /// A command, and the slot of its key, if the server is a cluster.
  struct Entry: Sendable {
    let request: RedisRequest
    let slot: Int?

    init(_ request: RedisRequest, _ slot: Int?) {
      self.request = request
      self.slot = slot
    }
  }

  private var requests = Queue<Entry>()

  /// The times that the server has refused them in a row, and the time before which they are not
  /// sent again.
  private var refusals = 0
  private var time: Int64 = 0

  /// The time of the next attempt; nil if there is nothing to send.
  var nextTime: Int64? { requests.isEmpty ? nil : time }

  /// Whether everything was attempted.
  var isDone: Bool { requests.isEmpty || refusals > 0 }

  /// Adds a command; beyond the limit, what the oldest would take back stays on the server until its
  /// life ends.
  mutating func add(_ request: Entry, limit: Int) {
    requests.append(request)
    if requests.count > limit { _ = requests.popFirst() }
  }

  /// Returns what is to be sent now.
  mutating func takeDue(at now: Int64) -> [Entry] {
    if now < time { return [] }
    defer { requests = Queue() }
    return requests.prefix(requests.count)
  }

  /// Takes out those of some slots, in order.
  mutating func take(of isMoved: (Int?) -> Bool) -> [Entry] {
    let all = requests.prefix(requests.count)
    requests = Queue()
    for entry in all where !isMoved(entry.slot) { requests.append(entry) }
    return all.filter { isMoved($0.slot) }
  }

  /// Acts on the answer to a command: the server may refuse it for a while.
  mutating func answered(
    _ request: Entry, _ answer: RESPValue, at now: Int64, _ limits: ConnectionLimits
  ) {
    guard case .error(let message) = answer, message.isTemporary else { return startAnew() }
    add(request, limit: limits.commands)
    // Those that were sent together count once.
    if now < time { return }
    refusals += 1
    time = now + limits.pause(after: refusals, share: 0)
  }

  /// Lets all be sent at once, since the server has carried one out, or is another one.
  mutating func startAnew() { (refusals, time) = (0, 0) }
}

extension String {
  /// Whether a server that answers this may carry out the same command later.
  ///
  /// Servers of version 6 have the error of a command in a script behind other words.
  fileprivate var isTemporary: Bool {
    let codes = [
      "LOADING", "BUSY", "MASTERDOWN", "READONLY", "MISCONF", "NOREPLICAS", "CLUSTERDOWN",
      "TRYAGAIN", "OOM", "MOVED", "ASK",
    ]
    return codes.contains { hasPrefix($0 + " ") || contains("-\($0) ") }
  }
}
