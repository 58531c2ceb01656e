import Foundation

/// How values look on disk.
struct ValueForm: Sendable {
  let schema: DiskSchema
  let sealing: DiskSealing?

  func sealed(_ value: Data, for key: String) throws -> Data {
    try sealing?.seal(value, key) ?? value
  }

  /// The value as it was told; nil if it is none of this form, and can't be made into one.
  func opened(_ value: Data, for key: String, version: UInt32) -> Data? {
    do {
      let plain = try sealing?.open(value, key) ?? value
      return version == schema.version ? plain : try schema.migrate?(plain, version)
    } catch {
      return nil
    }
  }
}
