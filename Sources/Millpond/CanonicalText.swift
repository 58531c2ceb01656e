import Foundation

extension String {
  /// The one text of all texts that are equal to this one, which may have other bytes: what a store
  /// that knows keys by their bytes has to store them by.
  ///
  /// - Source: Normalization Form C of Unicode; strings are equal if theirs are.
  var canonicalText: String {
    let isASCII = utf8.withContiguousStorageIfAvailable { $0.allSatisfy { $0 < 0x80 } }
    return isASCII == true ? self : precomposedStringWithCanonicalMapping
  }
}
