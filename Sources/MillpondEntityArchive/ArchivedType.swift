public import Foundation
import MillpondCore
public import MillpondEntities
import MillpondSignals

/// The storage of one entity type in an ``EntityArchive``.
///
/// The type is stored under a given name, since its name in the program may change.
public struct ArchivedType: Sendable {
  /// The prefix of the type's keys.
  ///
  /// It begins with the length of the name, so that no prefix begins with another one.
  let keyPrefix: String

  /// Sends the changes of a store's entities until disposed of.
  let follow: @Sendable (EntityStore, @escaping @Sendable ([ArchiveEntry]) -> Void) -> Disposable

  /// Returns the entity of a record; nil if it is not to be kept.
  let decode: @Sendable (Data) throws -> ArchivedEntity?

  /// Creates a type whose entities are stored as JSON.
  ///
  /// - Parameters:
  ///   - type: The type of the entities.
  ///   - name: The permanent name of the type on disk.
  ///   - version: The present version of the entities' form.
  ///   - migrate: Receives the JSON of an entity in another version, and that version; its result
  ///     is decoded and saved. If it is absent, returns nil or throws, the entity is left out and
  ///     removed from the disk.
  public init<E: Entity & Codable>(
    _ type: E.Type, named name: String, version: UInt32 = 0,
    migrate: (@Sendable (_ json: Data, _ from: UInt32) throws -> Data?)? = nil
  ) where E.ID: Encodable {
    let keyPrefix = "e/\(name.utf8.count)/\(name)/"
    self.keyPrefix = keyPrefix
    let text: @Sendable (E.ID) throws -> String = { id in
      // An array, for parsers that accept no lone number or string.
      keyPrefix + String(decoding: try encoder().encode([id]), as: UTF8.self)
    }
    let identity: @Sendable (E.ID) -> ArchivedIdentity = { id in
      ArchivedIdentity(keyPrefix: keyPrefix, reference: AnyReference(Reference<E>(id)))
    }
    follow = { store, send in
      store.edits(of: type).subscribe(onNext: { edits in
        send(
          edits.map { edit in
            ArchiveEntry(identity: identity(edit.id), text: { try text(edit.id) }) {
              try edit.value.map { ArchiveForm.wrap(try encoder().encode($0), version) }
            }
          })
      })
    }
    decode = { record in
      guard let (found, form) = ArchiveForm.unwrap(record) else { return nil }
      guard let json = form == version ? found : try migrate?(found, form) else { return nil }
      let entity = try JSONDecoder().decode(type, from: json)
      return ArchivedEntity(identity: identity(entity.id), text: try text(entity.id)) {
        store, token in
        store.restore(entity, token)
      }
    }
  }
}

/// An entity to be put back into a store.
struct ArchivedEntity: Sendable {
  let identity: ArchivedIdentity

  /// The text of the identity, with the prefix of the type.
  let text: String

  /// Puts it back; returns whether the store has it afterwards, since it may have been removed.
  let restore: @Sendable (EntityStore, FillToken) -> Bool
}

/// A change that has not been encoded yet.
struct ArchiveEntry: Sendable {
  let identity: ArchivedIdentity

  /// Returns the text of the identity, with the prefix of the type.
  let text: @Sendable () throws -> String

  /// Returns the present value; nil if it was removed.
  let value: @Sendable () throws -> Data?
}

/// Returns an encoder that encodes equal entities to equal bytes, as far as it can ensure that.
private func encoder() -> JSONEncoder {
  let encoder = JSONEncoder()
  encoder.outputFormatting = .sortedKeys
  return encoder
}
