public import Foundation
import MillpondCore
public import MillpondEntities
import MillpondSignals

/// How the entities of one type are kept in an ``EntityArchive``.
///
/// By a name that is given, since what a type is called in the program may change.
public struct ArchivedType: Sendable {
  /// What the keys of the type begin with.
  ///
  /// The length of the name comes first, so that no name begins as another does.
  let keyPrefix: String

  /// Sends what has changed, until disposed of.
  let follow: @Sendable (EntityStore, @escaping @Sendable ([ArchiveEntry]) -> Void) -> Disposable

  /// Makes an entity of a record; nil if it is not to be kept.
  let decode: @Sendable (Data) throws -> ArchivedEntity?

  /// Keeps entities as JSON.
  ///
  /// - Parameters:
  ///   - name: What the type is called on disk, for ever.
  ///   - version: The form that the entities have now.
  ///   - migrate: Is given the JSON of an entity in a form of another version, and that; what it
  ///     returns is decoded, and saved. Nil, or an error, leaves the entity out, as does no `migrate`;
  ///     then it goes from the disk.
  public init<E: Entity & Codable>(
    _ type: E.Type, named name: String, version: UInt32 = 0,
    migrate: (@Sendable (_ json: Data, _ from: UInt32) throws -> Data?)? = nil
  ) where E.ID: Encodable {
    let keyPrefix = "e/\(name.utf8.count)/\(name)/"
    self.keyPrefix = keyPrefix
    let key: @Sendable (E.ID) throws -> String = { id in
      // An array, for parsers that want more than a number or a string.
      keyPrefix + String(decoding: try encoder().encode([id]), as: UTF8.self)
    }
    follow = { store, send in
      store.edits(of: type).subscribe(onNext: { edits in
        send(
          edits.map { edit in
            ArchiveEntry(key: { try key(edit.id) }) {
              try edit.value.map { ArchiveForm.wrap(try encoder().encode($0), version) }
            }
          })
      })
    }
    decode = { record in
      guard let (found, form) = ArchiveForm.unwrap(record) else { return nil }
      guard let json = form == version ? found : try migrate?(found, form) else { return nil }
      let entity = try JSONDecoder().decode(type, from: json)
      return ArchivedEntity(key: try key(entity.id)) { store, token in
        store.restore(entity, token)
        return store.get(entity.reference) != nil
      }
    }
  }
}

/// Puts an entity back into a store.
struct ArchivedEntity: Sendable {
  let key: String

  /// Whether there is one then: it may have been removed since.
  let restore: @Sendable (EntityStore, FillToken) -> Bool
}

/// A change that is still to be encoded.
struct ArchiveEntry: Sendable {
  let key: @Sendable () throws -> String

  /// The present value; nil if it was removed.
  let value: @Sendable () throws -> Data?

  func encode() throws -> ArchiveRecord { ArchiveRecord(key: try key(), value: try value()) }
}

/// Of the same entity always the same bytes, as far as that is up to the encoder.
private func encoder() -> JSONEncoder {
  let encoder = JSONEncoder()
  encoder.outputFormatting = .sortedKeys
  return encoder
}
