import Foundation

/// A key on the server: that of a cache behind its prefix.
struct RedisKey: Sendable, Hashable {
  let prefix: String
  let key: String
}

extension String {
  /// The one text of all texts that are equal to this one, which may have other bytes: what the
  /// server, which knows keys by their bytes, is asked by.
  ///
  /// - Source: Normalization Form C of Unicode; strings are equal if theirs are.
  var keyText: String {
    let isASCII = utf8.withContiguousStorageIfAvailable { $0.allSatisfy { $0 < 0x80 } }
    return isASCII == true ? self : precomposedStringWithCanonicalMapping
  }

  /// Whether the text begins with a prefix, byte by byte, as the server compares.
  func begins(with prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
}
