import MillpondSignals

/// A holder of something that a callback needs and that is made later.
final class Box<Value: Sendable>: Sendable {
  private let content = Locked<Value?>(nil)

  var value: Value? {
    content.withLock { $0 }
  }

  func put(_ value: Value) {
    _ = content.withLock { content -> Value? in
      defer { content = value }
      return content
    }
  }

  @discardableResult
  func take() -> Value? {
    content.withLock { content in
      defer { content = nil }
      return content
    }
  }
}
