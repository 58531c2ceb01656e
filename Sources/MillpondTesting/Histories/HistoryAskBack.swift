/// What a fetch asks of the composition that it works for, before it answers.
struct HistoryAskBack: Sendable, Equatable {
  enum Way: Sendable {
    case get, reload, refresh
  }

  var way = Way.get

  /// The number of the key; nil for that of the fetch.
  var key: Int?

  /// Whether the fetch waits for the end of what it asks for.
  var isAwaited = true

  /// The same with simpler parts, the simplest first.
  var simpler: [HistoryAskBack] {
    [
      HistoryAskBack(), HistoryAskBack(isAwaited: isAwaited), HistoryAskBack(key: key),
      HistoryAskBack(way: way),
    ]
  }

  /// What is asked for, in words.
  var words: String {
    let way = way == .get ? "gets" : way == .reload ? "reloads" : "refreshes"
    return "\(way) \(key == nil ? "its own key" : "another key")"
      + (isAwaited ? "" : ", and does not wait for it")
  }
}
