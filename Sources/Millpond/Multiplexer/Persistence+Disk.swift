public import Foundation
public import MillpondCore

extension Persistence where Value: Codable {
  /// Keeps values as JSON, in a folder of their own.
  ///
  ///     MultiplexerMap<UUID, User>(persistence: .disk("users", in: folder, key: \.uuidString)) { … }
  ///
  /// What can't be read back, because the model has changed, say, is a miss. The ages of values outlive
  /// the process with them.
  ///
  /// - Parameters:
  ///   - name: Of the folder; any text. Two of one name share what they keep.
  ///   - directory: Where the folder is made.
  ///   - byteLimit: Upper bound for what is in it.
  ///   - schema: Which form the values have.
  ///   - key: The text of a key; different keys need different ones.
  public static func disk(
    _ name: String, in directory: URL, byteLimit: Int = .mebibytes(64),
    schema: DiskSchema = .unversioned, key: @escaping @Sendable (Key) -> String
  ) -> Persistence {
    let folder = directory.appendingPathComponent(FolderName.encoded(name), isDirectory: true)
    let disk = DiskCache(directory: folder, byteLimit: byteLimit, schema: schema)
    let cache = disk.mapValues(.json(Value.self)).mapKeys(key)
    return Persistence(cache)
  }
}

extension Persistence where Key: LosslessStringConvertible, Value: Codable {
  /// Keeps values as JSON, in a folder of their own, by the descriptions of their keys.
  ///
  /// - Parameters:
  ///   - name: Of the folder; any text. Two of one name share what they keep.
  ///   - directory: Where the folder is made.
  ///   - byteLimit: Upper bound for what is in it.
  ///   - schema: Which form the values have.
  public static func disk(
    _ name: String, in directory: URL, byteLimit: Int = .mebibytes(64),
    schema: DiskSchema = .unversioned
  ) -> Persistence {
    disk(name, in: directory, byteLimit: byteLimit, schema: schema) { $0.description }
  }
}

extension DiskCache: RepositoryMember {
  /// Completes when everything that was written before has been handed to the system.
  @discardableResult
  public func flush() -> Signal<Void> { flush(.written) }
}

/// Names of folders for names of any kind: different ones for different names, also where upper and
/// lower case are the same.
enum FolderName {
  /// Small letters, digits and hyphens stay; all else is written as bytes in hexadecimal.
  static func encoded(_ name: String) -> String {
    if name.isEmpty { return "%" }
    var text: [UInt8] = []
    for byte in name.utf8 {
      switch byte {
      case 0x61...0x7A, 0x30...0x39, 0x2D: text.append(byte)
      default: text += [0x25, digit(byte >> 4), digit(byte & 15)]
      }
    }
    let encoded = String(decoding: text.prefix(longest), as: UTF8.self)
    return text.count <= longest ? encoded : encoded + "%%" + sum(of: name)
  }

  /// Tells names apart that no volume would take whole.
  private static func sum(of name: String) -> String {
    var name = name
    return name.withUTF8 { String(FoldHash.hash(UnsafeRawBufferPointer($0), seed: 0), radix: 16) }
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

  private static var longest: Int { 180 }
}
