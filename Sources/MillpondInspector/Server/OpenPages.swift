import MillpondCore
import MillpondSignals

/// The pages that are open, with the gets that each has seen.
final class OpenPages: Sendable {
  /// The greatest number of pages.
  static let limit = 4

  private struct State: Sendable {
    var lastID = 0
    var logs: [Int: ActivityLog] = [:]
  }

  private let state = Locked(State())

  /// Adds a page and returns its number; nil if too many are open.
  func add(_ log: ActivityLog) -> Int? {
    state.withLock { state in
      guard state.logs.count < Self.limit else { return nil }
      state.lastID += 1
      state.logs[state.lastID] = log
      return state.lastID
    }
  }

  func remove(_ id: Int) {
    state.discard { $0.logs.removeValue(forKey: id) }
  }

  /// The number of open pages.
  var count: Int { state.withLock { $0.logs.count } }

  /// Returns the keys with this text of which a page has seen a get.
  func keys(_ text: String) -> [any Hashable & Sendable] {
    state.withLock { Array($0.logs.values) }.flatMap(\.keys).filter { KeyText($0).whole == text }
  }
}
