/// Nothing that was tried tells how much memory there is.
struct UnreadableMemory: Error, CustomStringConvertible {
  /// A file, and why it didn't help.
  struct Attempt: Sendable, CustomStringConvertible {
    let path: String
    let reason: String

    var description: String { "\(path): \(reason)" }
  }

  let tried: [Attempt]

  var description: String {
    "nothing tells how much memory there is; tried "
      + tried.map(\.description).joined(separator: ", ")
  }

  /// The text of a file, and what to say of it if that turns out not to help.
  static func read(_ path: String) -> (text: String?, attempt: Attempt) {
    do {
      return (try TextFile.read(path), Attempt(path: path, reason: "doesn't tell"))
    } catch {
      return (nil, Attempt(path: path, reason: "\(error)"))
    }
  }
}
