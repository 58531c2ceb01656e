#if canImport(FoundationNetworking)
  extension URLSessionTransport {
    /// False: the session can't pause a transfer, and keeps what comes faster than it is taken.
    ///
    /// Seen in swift-corelibs-foundation 6.3.1. This can change when the session can wait.
    public var appliesBackpressure: Bool { false }

    /// No limit: the session keeps in memory what it is not allowed to deliver.
    static var waitingLimit: Int { .max }
  }
#endif
