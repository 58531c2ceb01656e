public import MillpondSignals
public import Synchronization

/// The scopes to which the answers of a cache belong, and its memberships there, as one object for
/// a hit to retain.
@usableFromInline
final class ScopeMembership: Sendable {
  @usableFromInline let scopes: [CacheScope]
  private let handles: [ScopedDisposable]

  /// Creates the memberships, which end with this object.
  init(_ scopes: [CacheScope], _ handles: [Disposable]) {
    self.scopes = scopes
    self.handles = handles.map { $0.scoped() }
  }

  /// Returns the answer to a get or an observation, which fails with
  /// ``CacheError/scopeEnded(key:)`` if a scope ends first.
  ///
  /// - Parameters:
  ///   - answer: The answer.
  ///   - key: The key.
  ///   - endCounts: The numbers of ends when the work began; nil if it begins with the subscription.
  @usableFromInline
  func untilEnd<Element>(
    _ answer: Signal<Element>, _ key: some Sendable, since endCounts: [Int]? = nil
  ) -> Signal<Element> {
    let ending = scopes.indices.reduce(answer) { answer, index in
      scopes[index].untilEnd(answer, since: endCounts?[index]) {
        String(withoutSecrets: key)
      }
    }
    return Signal { [self] observer, lifetime in
      noteViewer()
      ending.run(observer, lifetime)
    }
  }

  /// The numbers of ends so far, for work that begins now.
  var endCounts: [Int] { scopes.map(\.endCount) }

  /// Lets the viewer that is subscribing show nothing of what it is about to receive after an end.
  ///
  /// To be called before the value is looked up.
  @inlinable
  func noteViewer() {
    if Viewer.isSubscribing.load(ordering: .relaxed) { keepViewer() }
  }

  @usableFromInline
  func keepViewer() {
    guard let viewer = Viewer.current else { return }
    for scope in scopes { scope.keep(viewer) }
  }

  /// Makes the next end wait for a write, if it is in progress.
  @inlinable
  func wait(for write: Signal<Void>) {
    for scope in scopes { scope.wait(for: write) }
  }
}
