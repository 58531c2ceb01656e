public import Foundation

/// The version of the stored values' form, and the migration of other versions.
public struct DiskSchema: Sendable {
  /// The number of the form.
  public let version: UInt32

  let migrate: (@Sendable (Data, UInt32) throws -> Data?)?

  /// Version 0, the default.
  public static let unversioned = DiskSchema(version: 0)

  /// Creates a schema; values of another version are misses.
  public init(version: UInt32) {
    self.version = version
    migrate = nil
  }

  /// Creates a schema that migrates values of other versions when they are read.
  ///
  /// - Parameters:
  ///   - version: The number of the form.
  ///   - migrate: Receives a value and its version; nil or an error is a miss. Runs on any thread,
  ///     at each get of the value until it is written again.
  public init(
    version: UInt32, migrate: @escaping @Sendable (_ value: Data, _ from: UInt32) throws -> Data?
  ) {
    self.version = version
    self.migrate = migrate
  }
}
