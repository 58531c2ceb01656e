import MillpondCore
import MillpondSignals

/// A composition without its types.
struct InspectedSource: Sendable {
  let title: String
  let permissions: Set<InspectorPermission>

  /// Returns the composition as it is now.
  let topology: @Sendable () -> Topology

  /// Removes the value of a key; nil if the key is of another type.
  let remove: @Sendable (any Hashable & Sendable) -> Signal<Void>?

  /// Removes the values of the keys with this text; nil for a source that cannot be written.
  let removeAll: @Sendable (_ text: String) -> Signal<Void>?

  init<Key, Value>(
    _ source: some Source<Key, Value>, title: String,
    allowing permissions: Set<InspectorPermission>
  ) {
    self.title = title
    self.permissions = permissions
    topology = { source.topology(for: nil) }
    remove = { key in
      guard let cache = source as? any Cache<Key, Value>, let key = key as? Key else { return nil }
      return cache.remove(key)
    }
    removeAll = { text in
      guard let cache = source as? any Cache<Key, Value> else { return nil }
      return cache.removeAll { KeyText($0).whole == text }
    }
  }
}

struct KeyText: Sendable, Hashable {
  /// The greatest length of a text that is sent to the page.
  static let limit = 400

  /// The text, however long.
  let whole: String

  init(_ key: some Any) {
    whole = "\(key)"
  }

  /// The text for the page, without the secrets of URLs in it.
  var shown: String { whole.withoutSecrets.shortened(to: Self.limit) }

  /// Whether the page receives the whole text.
  var isWhole: Bool { shown == whole }
}

extension String {
  /// Returns the beginning of a long text, with an ellipsis.
  ///
  /// Counted in bytes, since a single character may have any number of them.
  func shortened(to byteLimit: Int) -> String {
    if utf8.count <= byteLimit { return self }
    return String(decoding: utf8.prefix(byteLimit), as: UTF8.self) + "…"
  }
}
