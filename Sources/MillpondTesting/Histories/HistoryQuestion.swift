import MillpondCore

/// A get of a program.
struct HistoryQuestion: Sendable, Equatable {
  var key = 0
  var freshness = Freshness.any
  var priority = Priority.normal
  var stale: StaleUse?

  /// Whether the subscriber leaves after the first value.
  var takesFirst = false
  var entryPoint = 0

  /// The same get with simpler parts, the simplest first.
  var simpler: [HistoryQuestion] {
    let changes: [(inout HistoryQuestion) -> Void] = [
      { $0 = HistoryQuestion() },
      { $0 = HistoryQuestion(freshness: $0.freshness, entryPoint: $0.entryPoint) },
      { $0 = HistoryQuestion(freshness: $0.freshness, stale: $0.stale) },
      { $0.key = 0 }, { $0.entryPoint = 0 }, { $0.priority = .normal }, { $0.freshness = .any },
      { $0.stale = nil }, { $0.takesFirst = false },
    ]
    return changes.map { change in
      var question = self
      change(&question)
      return question
    }.filter { $0 != self }
  }

  /// The terms in words, except the defaults.
  var terms: String {
    var words: [String] = []
    if freshness != .any { words.append("\(freshness)") }
    if let stale { words.append("stale \(stale)") }
    if priority != .normal { words.append("\(priority)") }
    if takesFirst { words.append("first value only") }
    if entryPoint != 0 { words.append("entryPoint \(entryPoint)") }
    return words.map { ", \($0)" }.joined()
  }
}

/// A get that a fetch makes of its own composition before it answers.
struct HistoryAskBack: Sendable, Equatable {
  enum Way: Sendable {
    case get, reload, refresh
  }

  var way = Way.get

  /// The number of the key; nil for the key of the fetch.
  var key: Int?

  /// Whether the fetch waits for the end of that get.
  var isAwaited = true

  /// The same question with simpler parts, the simplest first.
  var simpler: [HistoryAskBack] {
    [
      HistoryAskBack(), HistoryAskBack(isAwaited: isAwaited), HistoryAskBack(key: key),
      HistoryAskBack(way: way),
    ]
  }

  /// The question in words.
  var words: String {
    let way = way == .get ? "gets" : way == .reload ? "reloads" : "refreshes"
    return "\(way) \(key == nil ? "its own key" : "another key")"
      + (isAwaited ? "" : ", and does not wait for it")
  }
}
