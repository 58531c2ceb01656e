public import Synchronization

/// What goes on showing the values of a signal after the signal has ended, such as the state of a
/// view.
///
/// No event can follow the end of a signal. So a source whose values belong to a session asks which
/// viewer is subscribing, and tells it when the session has ended.
@usableFromInline
package final class Viewer: Sendable {
  /// The viewer that is subscribing on the main actor.
  @MainActor private static var subscribing: Viewer?

  /// Whether there is one, so that other threads and times are spared the look for it.
  @usableFromInline package static let isSubscribing = AtomicValue(false)

  private let lifetime = Lifetime()
  private let clear: @MainActor @Sendable (any Error) -> Void

  /// Creates a viewer.
  ///
  /// - Parameter clear: Shows nothing any more, because of the error.
  package init(clear: @escaping @MainActor @Sendable (any Error) -> Void) {
    self.clear = clear
  }

  /// Subscribes to a signal on behalf of this viewer.
  @MainActor
  package func subscribe(_ body: () -> Void) {
    let outer = Self.subscribing
    Self.subscribing = self
    Self.isSubscribing.store(true, ordering: .relaxed)
    body()
    Self.subscribing = outer
    Self.isSubscribing.store(outer != nil, ordering: .relaxed)
  }

  /// Ends the interest in the sources; nothing of theirs is shown any more.
  package var handle: Disposable {
    Disposable(lifetime)
  }

  /// Runs `body` when the viewer shows nothing of its sources any more.
  package func onEnd(_ body: @escaping @Sendable () -> Void) {
    lifetime.onEnd(body)
  }

  /// The viewer that is subscribing on this thread; nil on all threads but the main one.
  package static var current: Viewer? {
    guard isSubscribing.load(ordering: .relaxed), isOnMainQueue() else { return nil }
    return MainActor.assumeIsolated { subscribing }
  }

  /// Clears viewers on the main actor: at once on the main thread, or else after everything that
  /// is on its way there.
  ///
  /// - Returns: The outcome: they show nothing any more.
  package static func clear(_ viewers: [Viewer], _ error: any Error) -> Signal<Void> {
    Signal<Void> { observer, lifetime in observer.only((), lifetime) }
      .receive(on: MainActor.shared)
      .onNext {
        MainActor.assumeIsolated {
          // One that shows something else by now has ended.
          for viewer in viewers where !viewer.lifetime.isEnded { viewer.clear(error) }
        }
      }
      .started()
  }
}

/// An error that may say that the session of a user has ended, whose values must not be shown any
/// more.
package protocol SessionEnding: Error {
  var isEndOfSession: Bool { get }
}

extension Error {
  /// Whether this says that the values before it must not be shown any more.
  package var endsSession: Bool {
    (self as? any SessionEnding)?.isEndOfSession ?? false
  }
}
