public import Foundation
import MillpondCore

extension ResourceState {
  /// The date at which the value left its origin; nil without a value.
  ///
  /// In a view, `Text(date, style: .relative)` goes on counting. As a text, where Foundation has its
  /// locales, `state.fetchedAt?.formatted(.relative(presentation: .named))` is "10 minutes ago".
  public var fetchedAt: Date? {
    bornAt.map { bornAt in
      let age = (ContinuousClock.now - bornAt).components
      return Date(timeIntervalSinceNow: -Double(age.seconds) - Double(age.attoseconds) / 1e18)
    }
  }
}
