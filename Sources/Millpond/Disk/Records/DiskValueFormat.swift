import Foundation

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
