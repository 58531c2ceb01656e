/// The version of Millpond.
public enum MillpondVersion {
  /// The version, by Semantic Versioning, such as `1.2.3`: the name of the tag in the repository,
  /// and the newest heading in the article "What is new".
  ///
  /// For reports of errors and the like: code that depends on a version states it in its package.
  public static let current = "0.1.0"
}
