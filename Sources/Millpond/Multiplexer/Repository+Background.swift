#if canImport(UIKit)
  public import MillpondCore
  public import MillpondSignals
  import UIKit

  @available(iOSApplicationExtension, unavailable)
  @available(tvOSApplicationExtension, unavailable)
  @available(visionOSApplicationExtension, unavailable)
  extension Repository {
    /// Flushes the members whenever the app enters the background, with background time from the
    /// system, until the result is disposed of.
    ///
    /// Not in an extension, which has no such time; see <doc:AppGroups>.
    @MainActor
    public func flushWhenBackgrounded() -> Disposable {
      let center = NotificationCenter.default
      let listener = center.addObserver(
        forName: UIApplication.didEnterBackgroundNotification, object: nil, queue: .main
      ) { _ in
        MainActor.assumeIsolated {
          let time = BackgroundTime()
          self.flush().subscribeOnMain(
            onFailed: { _ in time.end() }, onCompleted: { time.end() })
        }
      }
      // A listener is only passed back to the centre, which any thread may do.
      let listening = SerialState(listener)
      return Disposable { NotificationCenter.default.removeObserver(listening.value) }
    }
  }

  /// The background time of an app that has entered the background.
  @available(iOSApplicationExtension, unavailable)
  @available(tvOSApplicationExtension, unavailable)
  @available(visionOSApplicationExtension, unavailable)
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
