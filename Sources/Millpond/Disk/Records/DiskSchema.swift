public import Foundation

/// Which form the values of a store have, and what is to be done with those of another.
public struct DiskSchema: Sendable {
  /// The number of the form.
  public let version: UInt32

  let migrate: (@Sendable (Data, UInt32) throws -> Data?)?

  /// Values of version 0, as long as nobody says otherwise.
  public static let unversioned = DiskSchema(version: 0)

  /// Values of this version; those of another are misses.
  public init(version: UInt32) {
    self.version = version
    migrate = nil
  }

  /// Values of this version; those of another are made into it when they are asked for.
  ///
  /// - Parameter migrate: Is given a value and its version; nil, or an error, is a miss. Runs on any
  ///   thread, each time the value is asked for, until that has been told anew.
  public init(
    version: UInt32, migrate: @escaping @Sendable (_ value: Data, _ from: UInt32) throws -> Data?
  ) {
    self.version = version
    self.migrate = migrate
  }
}
