#if !canImport(FoundationNetworking)
  extension URLSessionTransport {
    /// True: the session waits until its delegate has taken what came.
    public var appliesBackpressure: Bool { true }

    /// How many bytes of a transfer may wait for a slow subscriber before the session waits.
    static var waitingLimit: Int { 4 << 20 }
  }
#endif
