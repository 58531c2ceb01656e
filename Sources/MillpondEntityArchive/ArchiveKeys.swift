import Foundation
import MillpondEntities

/// An entity in an archive: the prefix of its type's keys, and its identity.
struct ArchivedIdentity: Hashable, Sendable {
  let keyPrefix: String
  let reference: AnyReference

  /// Whether the text of the identity stands for it: equal identities have equal texts, which the
  /// disk takes for one key, and others have other texts.
  var hasExactText: Bool {
    switch reference.id {
    case is any BinaryInteger, is UUID, is String: true
    default: false
    }
  }
}

/// The keys on disk of the entities in an archive: one for equal identities, whatever their texts.
///
/// A text need not stand for an identity: that of a set has another order in each process, and a
/// negative zero has a sign. So identities without an exact text are remembered with the keys under
/// which they are stored.
struct ArchiveKeys: Sendable {
  private var keys: [ArchivedIdentity: String] = [:]
  private var used: Set<String> = []

  /// Returns the key of an entity; a new one is its text, unless another entity has that.
  mutating func key(of identity: ArchivedIdentity, text: String) -> String {
    if identity.hasExactText { return text }
    if let known = keys[identity] { return known }
    var key = text
    while !used.insert(key).inserted { key += "'" }
    keys[identity] = key
    return key
  }

  /// Returns the key that an entity found on disk is to have: this one, unless its text is exact, or
  /// an equal identity has another one.
  mutating func key(of identity: ArchivedIdentity, text: String, foundAt key: String) -> String {
    self.key(of: identity, text: identity.hasExactText ? text : key)
  }

  /// Forgets the key of an entity that is removed.
  mutating func forget(_ identity: ArchivedIdentity) {
    if let key = keys.removeValue(forKey: identity) { used.remove(key) }
  }
}
