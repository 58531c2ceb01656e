#if !canImport(FoundationNetworking)
  extension HTTPTransport {
    /// How a large body is best asked for: every transport waits for who takes its parts.
    var askingForLarge: Asking { .atOnce }
  }
#endif
