import Foundation
import Millpond

/// A log of the layer that answered for each URL.
final class AnswerLog: Sendable {
  private let layers = Locked<[URL: String]>([:])

  func note(_ layer: String, _ url: URL) {
    layers.withLock { $0[url] = layer }
  }

  func layer(of url: URL) -> String {
    layers.withLock { $0[url] } ?? "?"
  }
}

/// A layer that logs its answers, and otherwise behaves like its base.
struct LoggedLayer<Base: Source<URL, Data>>: Cache, AnsweringSource {
  private let base: Base
  private let name: String
  private let log: AnswerLog

  init(_ base: Base, _ name: String, _ log: AnswerLog) {
    self.base = base
    self.name = name
    self.log = log
  }

  func answers(_ key: URL, _ lookup: Lookup) -> Signal<Answer<Data>> {
    base.answers(key, lookup).onNext { if $0.stamped != nil { log.note(name, key) } }
  }

  func now(_ key: URL, _ lookup: Lookup) -> Data? {
    let value = base.now(key, lookup)
    if value != nil { log.note(name, key) }
    return value
  }

  func apply(_ change: Change<URL, Data>) -> Signal<Void> {
    base.apply(change)
  }

  func topology(for key: URL?) -> Topology {
    base.topology(for: key)
  }
}
