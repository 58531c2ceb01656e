import Foundation

/// The layout of a stored entity: the version of its type's form, and its JSON.
enum ArchiveForm {
  private static let versionSize = 4

  static func wrap(_ json: Data, _ version: UInt32) -> Data {
    Data((0..<versionSize).map { UInt8(truncatingIfNeeded: version >> (8 * $0)) }) + json
  }

  static func unwrap(_ record: Data) -> (json: Data, version: UInt32)? {
    guard record.count >= versionSize else { return nil }
    let version = record.prefix(versionSize).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    return (Data(record.dropFirst(versionSize)), version)
  }
}
