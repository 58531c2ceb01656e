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

/// What is done to values so that on disk nobody can read them: encryption, mostly.
///
///     DiskSealing(
///       seal: { value, key in try ChaChaPoly.seal(value, using: secret).combined },
///       open: { value, key in try ChaChaPoly.open(.init(combined: value), using: secret) })
///
/// Keys, sizes and times are not sealed. Damage is found out before a value is opened.
public struct DiskSealing: Sendable {
  let seal: @Sendable (Data, String) throws -> Data
  let open: @Sendable (Data, String) throws -> Data

  /// Seals values when they are written, and opens them when they are read.
  ///
  /// - Parameters:
  ///   - seal: Is given a value and its key. Runs on the thread that writes; if it throws, the
  ///     write fails, and what was there before stays.
  ///   - open: Is given what was sealed, and its key; if it throws, it is a miss. Runs on the thread
  ///     that asks or on one that reads.
  public init(
    seal: @escaping @Sendable (_ value: Data, _ key: String) throws -> Data,
    open: @escaping @Sendable (_ sealed: Data, _ key: String) throws -> Data
  ) {
    self.seal = seal
    self.open = open
  }
}

/// How values look on disk.
struct ValueForm: Sendable {
  let schema: DiskSchema
  let sealing: DiskSealing?

  func sealed(_ value: Data, for key: String) throws -> Data {
    try sealing?.seal(value, key) ?? value
  }

  /// Returns the plain value; nil if it has another form, and can't be migrated.
  func opened(_ value: Data, for key: String, version: UInt32) -> Data? {
    do {
      let plain = try sealing?.open(value, key) ?? value
      return version == schema.version ? plain : try schema.migrate?(plain, version)
    } catch {
      return nil
    }
  }
}
