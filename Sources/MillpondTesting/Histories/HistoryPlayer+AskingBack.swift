import MillpondCore
import MillpondSignals

// What the origin asks of the composition in the course of a fetch.
extension HistoryPlayer {
  /// Asks for what a fetch wants, and runs `onEnd` at the end of that; nil if nobody can be asked.
  ///
  /// - Returns: The way to leave.
  func ask(
    _ back: HistoryAskBack, in fetch: Int, _ onEnd: @escaping @Sendable () -> Void
  ) -> Disposable? {
    guard let cache = entrances.withLock({ $0.first }) else { return nil }
    let (own, name) = (log.content.fetches[fetch].key, log.content.fetches[fetch].name)
    let key = back.key.map { check.key($0) } ?? own
    let parts = scene.parts.withLock { $0 }
    let question = HistoryQuestion(
      freshness: back.way == .get ? .any : .reload, takesFirst: parts.goesOn)
    let view = begin(
      "\(back.way) %% of \(key) by \(name)", key, question, for: back.isAwaited ? fetch : nil)
    let refresh = back.way == .refresh ? parts.refresh : nil
    let signal = refresh?(key) ?? cache.get(key, freshness: question.freshness)
    subscribe(view, to: question.takesFirst ? signal.take(1) : signal, onEnd)
    return Disposable { [self] in
      if log.content.views[view].isOpen { leave(view: view) }
    }
  }
}
