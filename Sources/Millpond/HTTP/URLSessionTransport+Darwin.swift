#if !canImport(FoundationNetworking)
  extension URLSessionTransport {
    /// True: the session waits until its delegate has taken what came.
    public var appliesBackpressure: Bool { true }
  }
#endif
