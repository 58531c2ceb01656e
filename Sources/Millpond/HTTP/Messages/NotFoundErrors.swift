import MillpondCore

extension Error {
  /// Whether the error says that there is no such value: the statuses 404 and 410, and
  /// ``/MillpondCore/CacheError/miss``; another ``/MillpondCore/CacheError`` answers for its
  /// underlying error.
  ///
  /// So that an origin is not asked again and again for what it does not have:
  ///
  ///     FreshnessPolicy(
  ///       freshFor: .minutes(10), failureLife: { $0.isNotFound ? .minutes(1) : .zero })
  public var isNotFound: Bool {
    if case .status(let code, _, _) = self as? TransferError { return code == 404 || code == 410 }
    guard let error = self as? CacheError else { return false }
    if case .miss = error { return true }
    return error.underlying?.isNotFound ?? false
  }
}
