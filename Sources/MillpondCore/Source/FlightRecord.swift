/// A get that is under way, and may be shared.
public struct FlightRecord: Sendable, CustomStringConvertible {
  /// What it is for.
  public let key: any Hashable & Sendable

  /// For how long it has been under way.
  public let age: Duration

  /// The number of callers that wait.
  public let askers: Int

  /// The highest priority of those who wait.
  public let priority: Priority

  /// Where in the code it was asked for first, in debug builds.
  public let place: String?

  /// Tells flights apart while they last.
  let id: ObjectIdentifier

  package init(
    key: any Hashable & Sendable, age: Duration, askers: Int, priority: Priority, place: String?,
    id: ObjectIdentifier
  ) {
    self.key = key
    self.age = age
    self.askers = askers
    self.priority = priority
    self.place = place
    self.id = id
  }

  /// One line about it.
  public var description: String {
    let origin = place.map { ", asked for at \($0)" } ?? ""
    return "\(key): \(askers) waiting for \(age.brief), \(priority) priority\(origin)"
  }
}
