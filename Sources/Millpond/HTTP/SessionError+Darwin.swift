#if !canImport(FoundationNetworking)
  /// What a session's error says: a `URLError`, as it is.
  func sessionError(_ error: any Error, hasHead: Bool) -> any Error {
    error
  }
#endif
