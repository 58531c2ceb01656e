#if canImport(FoundationNetworking)
  extension HTTPTransport {
    /// How a large body is best asked for.
    ///
    /// The session of swift-corelibs-foundation 6.3.1 can't pause a transfer, and keeps all that comes
    /// faster than it is taken in memory; a custom transport is held up by who takes its parts. This
    /// can go when the session can wait.
    var askingForLarge: Asking { self is URLSessionTransport ? .inRanges : .atOnce }
  }
#endif
