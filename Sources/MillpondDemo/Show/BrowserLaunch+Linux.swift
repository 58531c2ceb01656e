#if os(Linux)
  import Foundation

  /// The opening of a page in the user's browser.
  enum BrowserLaunch {
    /// Opens an address, if there is a desktop with a browser; otherwise does nothing.
    static func open(_ address: String) {
      let variables = ProcessInfo.processInfo.environment
      guard variables["DISPLAY"] != nil || variables["WAYLAND_DISPLAY"] != nil else { return }
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/xdg-open")
      process.arguments = [address]
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try? process.run()
    }
  }
#endif
