// The part of UIKit that is used.
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
  public class var shared: UIApplication { fatalError() }

  open func beginBackgroundTask(
    expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
  ) -> UIBackgroundTaskIdentifier { fatalError() }

  open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}

  nonisolated public class var didEnterBackgroundNotification: NSNotification.Name {
    fatalError()
  }
}
