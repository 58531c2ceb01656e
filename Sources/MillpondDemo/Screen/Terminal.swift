#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The platform's part of the screen: the abilities of standard output, and writing to it.
enum Terminal {
  /// Whether standard output is a terminal that can redraw lines.
  static var isInteractive: Bool {
    isatty(STDOUT_FILENO) == 1 && variable("TERM") != "dumb"
  }

  /// Whether the user permits colours.
  ///
  /// - Source: no-color.org: any text in `NO_COLOR` forbids them.
  static var wantsColour: Bool { variable("NO_COLOR") == nil }

  /// Whether the locale has characters beyond ASCII, by the first locale variable that is set.
  static var showsUnicode: Bool {
    let named = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(variable).first
    let letters = named?.lowercased() ?? ""
    return letters.contains("utf-8") || letters.contains("utf8")
  }

  /// The size in characters; 80 by 24 if the terminal does not state it.
  static var size: (columns: Int, lines: Int) {
    var window = winsize()
    let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0
    return (
      columns: isKnown && window.ws_col > 0 ? Int(window.ws_col) : 80,
      lines: isKnown && window.ws_row > 0 ? Int(window.ws_row) : 24
    )
  }

  /// Writes the text to standard output, as far as possible: a closed pipe accepts no more.
  static func write(_ text: String) { write(text, to: STDOUT_FILENO) }

  /// Writes the text to standard error.
  static func complain(_ text: String) { write(text, to: STDERR_FILENO) }

  /// The signals by which a user ends a program: those of Ctrl-C and of `kill`.
  static let endingSignals = [SIGINT, SIGTERM]

  /// Keeps a signal from ending the process, so that a dispatch source can handle it.
  static func keepFromEnding(_ number: Int32) { _ = signal(number, SIG_IGN) }

  private static func write(_ text: String, to file: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { sendBytes(file, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        // Another program may have made the shared terminal non-blocking.
        var waited = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
        _ = poll(&waited, 1, 1_000)
      } else if errno != EINTR {
        return
      }
    }
  }

  /// Returns the value of an environment variable; nil if it is unset or empty.
  private static func variable(_ name: String) -> String? {
    guard let text = getenv(name).map({ String(cString: $0) }), !text.isEmpty else { return nil }
    return text
  }
}

/// Calls the platform's `write`, whose name the method above hides.
private func sendBytes(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, bytes, count)
}
