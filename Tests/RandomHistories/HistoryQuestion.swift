import MillpondCore

/// A get of a program.
struct HistoryQuestion: Sendable {
  var key = 0
  var freshness = Freshness.any
  var priority = Priority.normal
  var entryPoint = 0

  /// The terms in words, except the defaults.
  var terms: String {
    (freshness == .any ? "" : ", \(freshness)") + (priority == .normal ? "" : ", \(priority)")
      + (entryPoint == 0 ? "" : ", entryPoint \(entryPoint)")
  }
}

/// A get that a fetch makes of its own composition before it answers.
struct HistoryAskBack: Sendable {
  enum Way: Sendable {
    case get, reload, refresh
  }

  var way: Way

  /// The number of the key; nil for the key of the fetch.
  var key: Int?

  /// Whether the fetch waits for the end of that get.
  var isAwaited: Bool

  /// The question in words.
  var words: String {
    let way = way == .get ? "gets" : way == .reload ? "reloads" : "refreshes"
    return "\(way) \(key == nil ? "its own key" : "another key")"
      + (isAwaited ? "" : ", and does not wait for it")
  }
}
