import Foundation

/// A line on the terminal that shows the current work, and is erased afterwards.
struct Progress {
  private let isSeen = isatty(STDERR_FILENO) == 1

  func show(_ text: String) {
    write("\r\u{1B}[K\(text)")
  }

  func clear() {
    write("\r\u{1B}[K")
  }

  private func write(_ text: String) {
    if isSeen { FileHandle.standardError.write(Data(text.utf8)) }
  }
}
