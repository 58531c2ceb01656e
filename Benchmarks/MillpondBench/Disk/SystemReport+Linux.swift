#if os(Linux)
  import Foundation

  /// Returns the number of bytes that this process has passed to writing calls; nil if the system
  /// does not report it.
  func writtenBytes() -> Int? {
    guard let report = FileManager.default.contents(atPath: "/proc/self/io") else { return nil }
    return WriteReport(String(decoding: report, as: UTF8.self)).passed
  }

  /// The system's report on a process's reading and writing.
  struct WriteReport {
    /// The bytes passed to writing calls, including those to files in memory only.
    let passed: Int?

    /// - Parameter text: A line for each number, after its name and a colon.
    init(_ text: String) {
      let line = text.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
      passed = line.flatMap { Int($0.dropFirst("wchar: ".count)) }
    }
  }

  /// Whether a folder's files are in memory only.
  func isMemory(_ folder: String) -> Bool {
    guard
      let report = FileManager.default.contents(atPath: "/proc/self/mounts"),
      let resolved = realpath(folder, nil)
    else { return false }
    defer { free(resolved) }
    let mounts = MountReport(String(decoding: report, as: UTF8.self))
    return ["tmpfs", "ramfs"].contains(mounts.kind(of: String(cString: resolved)))
  }

  /// The system's report on mounted file systems.
  struct MountReport {
    private let mounts: [(place: Substring, kind: Substring)]

    /// - Parameter text: A line for each: its device, its place and its kind.
    init(_ text: String) {
      mounts = text.split(separator: "\n").compactMap { line in
        let words = line.split(separator: " ")
        return words.count > 2 ? (words[1], words[2]) : nil
      }
    }

    /// Returns the kind of the innermost around a path, and of those the last, which hides the
    /// others.
    func kind(of path: String) -> Substring? {
      mounts.filter { mount in
        mount.place == "/" || path == mount.place || path.hasPrefix(mount.place + "/")
      }.enumerated().max {
        ($0.element.place.count, $0.offset) < ($1.element.place.count, $1.offset)
      }?.element.kind
    }
  }
#endif
