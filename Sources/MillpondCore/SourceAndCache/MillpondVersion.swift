/// The version of Millpond.
package enum MillpondVersion {
  /// The version, by Semantic Versioning, such as `1.2.3`: the name of the tag in the repository,
  /// and the newest heading in the article "What is new".
  package static let current = "0.1.0"
}
