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

/// A transformation that makes values on disk unreadable to others, usually encryption.
///
///     DiskSealing(
///       seal: { value, key in try ChaChaPoly.seal(value, using: secret).combined },
///       open: { value, key in try ChaChaPoly.open(.init(combined: value), using: secret) })
///
/// Keys, sizes, times and validators are not sealed. Damage is detected before a value is opened.
public struct DiskSealing: Sendable {
  let seal: @Sendable (Data, String) throws -> Data
  let open: @Sendable (Data, String) throws -> Data

  /// Creates a sealing for values on disk.
  ///
  /// - Parameters:
  ///   - seal: Receives a value and its key. Runs on the thread that writes; if it throws, the
  ///     write fails, and the value stored before stays.
  ///   - open: Receives a sealed value and its key; if it throws, the get is a miss. Runs on the
  ///     caller's thread or on one that reads.
  public init(
    seal: @escaping @Sendable (_ value: Data, _ key: String) throws -> Data,
    open: @escaping @Sendable (_ sealed: Data, _ key: String) throws -> Data
  ) {
    self.seal = seal
    self.open = open
  }
}

/// The form of values on disk.
struct DiskValueFormat: Sendable {
  let schema: DiskSchema
  let sealing: DiskSealing?

  func sealed(_ value: Data, for key: String) throws -> Data {
    try sealing?.seal(value, key) ?? value
  }

  /// Returns the plain value; nil if it can't be opened or migrated.
  func opened(_ value: Data, for key: String, version: UInt32) -> Data? {
    do {
      let plain = try sealing?.open(value, key) ?? value
      return version == schema.version ? plain : try schema.migrate?(plain, version)
    } catch {
      return nil
    }
  }
}
