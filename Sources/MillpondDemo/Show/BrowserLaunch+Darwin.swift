#if canImport(Darwin)
  import Foundation

  /// The opening of a page in the user's browser.
  enum BrowserLaunch {
    /// Opens an address in the default browser.
    static func open(_ address: String) {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/open")
      process.arguments = [address]
      try? process.run()
    }
  }
#endif
