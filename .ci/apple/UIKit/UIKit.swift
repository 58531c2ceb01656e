// The part of UIKit that is used. It runs, so that what uses it can be tested: an application that
// counts its background tasks.
//
// Signatures: https://developer.apple.com/documentation/uikit/uiapplication and
// https://developer.apple.com/documentation/uikit/uibackgroundtaskidentifier.
@_exported import Foundation

public struct UIBackgroundTaskIdentifier: Hashable, Equatable, RawRepresentable, Sendable {
  public var rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }
  public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}

@MainActor open class UIApplication {
  private static let application = UIApplication()
  @available(iOSApplicationExtension, unavailable)
  public class var shared: UIApplication { application }

  /// Not of UIKit: the tasks that run, with what to call when their time is over.
  public private(set) var tasks: [UIBackgroundTaskIdentifier: (@MainActor @Sendable () -> Void)?] =
    [:]
  /// Not of UIKit: the number of calls that ended a task that did not run.
  public private(set) var wrongEnds = 0
  private var lastNumber = 0

  open func beginBackgroundTask(
    expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
  ) -> UIBackgroundTaskIdentifier {
    lastNumber += 1
    let task = UIBackgroundTaskIdentifier(rawValue: lastNumber)
    tasks.updateValue(handler, forKey: task)
    return task
  }

  open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {
    if tasks.removeValue(forKey: identifier) == nil { wrongEnds += 1 }
  }

  nonisolated public class var didEnterBackgroundNotification: NSNotification.Name {
    NSNotification.Name("UIApplicationDidEnterBackgroundNotification")
  }
}
