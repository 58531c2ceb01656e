#if canImport(UIKit) && !os(watchOS)
  public import MillpondCore
  public import MillpondSignals
  import UIKit

  extension Repository {
    /// Flushes its members whenever the app goes to the background, and asks the system for the time
    /// that takes, until the result is disposed of.
    @MainActor
    public func flushWhenBackgrounded() -> Disposable {
      let center = NotificationCenter.default
      let listener = center.addObserver(
        forName: UIApplication.didEnterBackgroundNotification, object: nil, queue: .main
      ) { _ in
        MainActor.assumeIsolated {
          let time = BackgroundTime()
          self.flush().subscribeOnMain { event in if event.isTerminal { time.end() } }
        }
      }
      let listening = Listening(listener: listener)
      return Disposable { NotificationCenter.default.removeObserver(listening.listener) }
    }
  }

  /// Sendable because a listener is only given back to the center, which any thread may do.
  private struct Listening: @unchecked Sendable {
    let listener: any NSObjectProtocol
  }

  /// The time that the system gives an app that has gone to the background.
  @MainActor
  private final class BackgroundTime {
    private var task = UIBackgroundTaskIdentifier.invalid

    init() {
      task = UIApplication.shared.beginBackgroundTask { self.end() }
    }

    func end() {
      if task == .invalid { return }
      UIApplication.shared.endBackgroundTask(task)
      task = .invalid
    }
  }
#endif
