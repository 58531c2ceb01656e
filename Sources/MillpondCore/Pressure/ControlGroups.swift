/// The position of a process in the tree of control groups, version 2.
struct ControlGroups: Sendable, Equatable {
  /// The path of the process's group.
  private(set) var path = "/"

  /// Creates a position at the root, the assumption if nothing is known.
  init() {}

  /// Creates a position from `/proc/self/cgroup`, where the line `0::path` has it.
  init(_ text: String) {
    let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("0::") }
    if let line { path = String(line.dropFirst(3)) }
  }

  /// Returns every group whose limit applies, the process's own first.
  ///
  /// - Parameter root: The folder of the mounted trees. The tree may be in `unified`, beside those
  ///   of version 1, which are not read.
  func groups(root: String) -> [ControlGroup] {
    [root, "\(root)/unified"].flatMap { root in
      Self.lineage(path).map { ControlGroup(folder: root + $0) }
    }
  }

  /// Returns a path and its ancestors, up to the empty path, which is the root.
  ///
  /// In a container the path may be visible from outside only; then only the root exists. A path
  /// with `..` leads out of the visible tree, so only the root is returned for it.
  private static func lineage(_ path: String) -> [String] {
    var components = path.split(separator: "/")
    if components.contains("..") { return [""] }
    var paths: [String] = []
    while !components.isEmpty, paths.count < 64 {  // deeper paths are garbage
      paths.append("/" + components.joined(separator: "/"))
      components.removeLast()
    }
    return paths + [""]
  }
}

/// A folder in which the kernel reports a group's limit and use of memory.
struct ControlGroup: Sendable, Equatable {
  let folder: String

  /// Returns the memory use under the group's own limit; nil if it has no limit below `endless`.
  ///
  /// The use is read only if there is a limit: counting it is work for the kernel. Cached files
  /// without recent use are the first memory that it reclaims.
  func room(below endless: Int, _ text: (String) -> String?) -> MemoryUse? {
    guard let limit = text("\(folder)/memory.max").flatMap({ KernelFileParser.bytes($0) }),
      limit < endless,
      let used = text("\(folder)/memory.current").flatMap({ KernelFileParser.bytes($0) }),
      let stat = text("\(folder)/memory.stat"),
      let idleFiles = KernelFileParser.bytes(of: "inactive_file", in: stat)
    else { return nil }
    return MemoryUse(used: used - idleFiles, limit: limit)
  }

  /// Returns the stalls of the group's tasks; nil if it does not report them.
  func stall(_ text: (String) -> String?) -> MemoryStall? {
    text("\(folder)/memory.pressure").flatMap { MemoryStall(pressure: $0) }
  }
}
