import MillpondSignals

/// A record of events, in order.
final class Journal<Entry: Sendable>: Sendable {
  private let content = Locked<[Entry]>([])

  var entries: [Entry] {
    content.withLock { $0 }
  }

  var count: Int {
    entries.count
  }

  func write(_ entry: Entry) {
    content.withLock { $0.append(entry) }
  }
}
