import MillpondSignals

/// A description of a running get, which callers share unless it is a reload.
public struct FlightRecord: Sendable, CustomStringConvertible {
  /// The key of the get.
  public let key: any Hashable & Sendable

  /// The time since the run began.
  public let age: Duration

  /// The number of callers that wait.
  public let callers: Int

  /// The highest priority of the waiting callers.
  public let priority: Priority

  /// The place in the code of the first get, in debug builds.
  public let place: String?

  /// An identifier that is unique while the flight lasts.
  let id: ObjectIdentifier

  package init(
    key: any Hashable & Sendable, age: Duration, callers: Int, priority: Priority, place: String?,
    id: ObjectIdentifier
  ) {
    self.key = key
    self.age = age
    self.callers = callers
    self.priority = priority
    self.place = place
    self.id = id
  }

  /// A single line about the flight, without the secrets of URLs in the key.
  public var description: String {
    let origin = place.map { ", requested at \($0)" } ?? ""
    return
      "\(String(withoutSecrets: key)): \(callers) waiting for \(age.brief), \(priority) priority\(origin)"
  }
}
