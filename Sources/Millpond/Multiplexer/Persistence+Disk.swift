public import Foundation
public import MillpondCore

extension Persistence where Value: Codable {
  /// Returns a persistence that stores values as JSON in a folder of their own.
  ///
  ///     MultiplexerMap<UUID, User>(persistence: .disk("users", in: folder, key: \.uuidString)) { … }
  ///
  /// A value that can't be decoded, for example because the model has changed, is a miss. The ages
  /// of values outlive the process with them.
  ///
  /// - Parameters:
  ///   - name: The name of the folder; any text. Two persistences with one name share their values.
  ///   - directory: The folder in which this folder is made; nil for the caches folder of the
  ///     program, as of ``DiskCache/init(named:byteLimit:timeToLive:policy:schema:sealing:protection:)``.
  ///   - byteLimit: The greatest size of the folder in bytes.
  ///   - schema: The version of the form in which values are stored.
  ///   - key: Returns the text of a key; different keys need different texts, and equal keys equal
  ///     ones. So it must not depend on the order of a set's elements. Since it can't be turned
  ///     back, `removeAll(where:)` fails as unsupported, and removes nothing from the disk.
  public static func disk(
    _ name: String, in directory: URL? = nil, byteLimit: Int = .mebibytes(64),
    schema: DiskSchema = .unversioned, key: @escaping @Sendable (Key) -> String
  ) -> Persistence {
    Persistence(values(name, in: directory, byteLimit, schema).mapKeys(key))
  }

  /// Returns a persistence of the same kind for keys that can be turned back, so that
  /// `removeAll(where:)` is possible.
  ///
  /// - Parameters:
  ///   - name: The name of the folder; any text. Two persistences with one name share their values.
  ///   - directory: The folder in which this folder is made; nil for the caches folder of the
  ///     program, as of ``DiskCache/init(named:byteLimit:timeToLive:policy:schema:sealing:protection:)``.
  ///   - byteLimit: The greatest size of the folder in bytes.
  ///   - schema: The version of the form in which values are stored.
  ///   - key: Returns the text of a key; different keys need different texts, and equal keys equal
  ///     ones. A key for whose text `inverse` returns another key is refused with an error.
  ///   - inverse: Returns the key of a text; nil for a text that is none.
  /// - Throws: From gets and writes: `CacheError.refused(key:)` for a refused key.
  public static func disk(
    _ name: String, in directory: URL? = nil, byteLimit: Int = .mebibytes(64),
    schema: DiskSchema = .unversioned, key: @escaping @Sendable (Key) -> String,
    inverse: @escaping @Sendable (String) -> Key?
  ) -> Persistence {
    Persistence(
      values(name, in: directory, byteLimit, schema).mapKeys(
        { newKey in
          let text = key(newKey)
          guard inverse(text.canonicalText) == newKey else { throw CacheError.refused(key: text) }
          return text
        }, inverse: inverse))
  }

  private static func values(
    _ name: String, in directory: URL?, _ byteLimit: Int, _ schema: DiskSchema
  ) -> MappedValues<DiskCache, Value> {
    let folder = CachesFolder.folder(named: name, in: directory ?? CachesFolder.ofProgram)
    return DiskCache(directory: folder, byteLimit: byteLimit, schema: schema)
      .mapValues(.json(Value.self))
  }
}

extension Persistence where Key: LosslessStringConvertible, Value: Codable {
  /// Returns a persistence that stores values as JSON in a folder of their own, by the descriptions
  /// of their keys.
  ///
  /// - Parameters:
  ///   - name: The name of the folder; any text. Two persistences with one name share their values.
  ///   - directory: The folder in which this folder is made; nil for the caches folder of the
  ///     program, as of ``DiskCache/init(named:byteLimit:timeToLive:policy:schema:sealing:protection:)``.
  ///   - byteLimit: The greatest size of the folder in bytes.
  ///   - schema: The version of the form in which values are stored.
  public static func disk(
    _ name: String, in directory: URL? = nil, byteLimit: Int = .mebibytes(64),
    schema: DiskSchema = .unversioned
  ) -> Persistence {
    disk(
      name, in: directory, byteLimit: byteLimit, schema: schema, key: { $0.canonicalDescription },
      inverse: { Key($0) })
  }
}

extension LosslessStringConvertible where Self: Equatable {
  /// The description, without the sign of a negative zero, which equals a positive one.
  fileprivate var canonicalDescription: String {
    let text = description
    guard text.utf8.first == UInt8(ascii: "-") else { return text }
    let positive = String(text.dropFirst())
    return Self(positive) == self ? positive : text
  }
}

/// An encoding of any names as folder names, distinct even on volumes that ignore case.
enum FolderName {
  /// Returns the encoded name: lowercase letters, digits and hyphens stay, and all other bytes
  /// become hexadecimal.
  static func encoded(_ name: String) -> String {
    if name.isEmpty { return "%" }
    var text: [UInt8] = []
    for byte in name.canonicalText.utf8 {
      switch byte {
      case 0x61...0x7A, 0x30...0x39, 0x2D: text.append(byte)
      default: text += [0x25, digit(byte >> 4), digit(byte & 15)]
      }
    }
    let encoded = String(decoding: text.prefix(longest), as: UTF8.self)
    return text.count <= longest ? encoded : encoded + "%%" + sum(of: name)
  }

  /// Returns a hash that distinguishes names too long for a volume.
  private static func sum(of name: String) -> String {
    String(FoldHash.hash(name, seed: 0), radix: 16)
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

  private static var longest: Int { 180 }
}
