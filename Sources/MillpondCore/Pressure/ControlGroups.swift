/// The position of a process in the trees of control groups.
struct ControlGroups: Sendable, Equatable {
  /// The path in the version 1 tree that limits memory; nil if there is none.
  private(set) var memoryPath: String?

  /// The path in the version 2 tree.
  private(set) var unifiedPath: String

  /// Creates a position at the root of both trees, the assumption if nothing is known.
  init() {
    memoryPath = "/"
    unifiedPath = "/"
  }

  /// Creates a position from `/proc/self/cgroup`, which has lines `number:controllers:path`.
  init(_ text: String) {
    self.init()
    let lines = text.split(whereSeparator: \.isNewline).map {
      $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    }.filter { $0.count == 3 }
    guard !lines.isEmpty else { return }
    memoryPath = lines.first { $0[1].split(separator: ",").contains("memory") }
      .map { String($0[2]) }
    unifiedPath = lines.first { $0[0] == "0" && $0[1].isEmpty }.map { String($0[2]) } ?? "/"
  }

  /// Returns every group whose limit applies, the process's own first in each tree.
  ///
  /// - Parameter root: The folder of the mounted trees. The version 2 tree may be in `unified`,
  ///   beside the version 1 trees.
  func groups(root: String) -> [ControlGroup] {
    let ones = memoryPath.map { Self.lineage($0) } ?? []
    let twos = Self.lineage(unifiedPath)
    return ones.map { ControlGroup(folder: "\(root)/memory\($0)", version: .one) }
      + twos.map { ControlGroup(folder: "\(root)\($0)", version: .two) }
      + twos.map { ControlGroup(folder: "\(root)/unified\($0)", version: .two) }
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
  enum Version: Sendable {
    case one, two
  }

  let folder: String
  let version: Version

  /// Returns the memory use under the group's own limit; nil if it has no limit below `endless`.
  ///
  /// The use is read only if there is a limit: counting it is work for the kernel.
  func room(below endless: Int, _ text: (String) -> String?) -> MemoryUse? {
    guard let limit = text("\(folder)/\(limitName)").flatMap({ KernelFileParser.bytes($0) }),
      limit < endless,
      let used = text("\(folder)/\(useName)").flatMap({ KernelFileParser.bytes($0) }),
      let stat = text("\(folder)/memory.stat"),
      let idleFiles = KernelFileParser.bytes(of: idleFilesName, in: stat)
    else { return nil }
    return MemoryUse(used: used - idleFiles, limit: limit)
  }

  /// Returns the stalls of the group's tasks; nil if it does not report them.
  func stall(_ text: (String) -> String?) -> MemoryStall? {
    guard version == .two else { return nil }
    return text("\(folder)/memory.pressure").flatMap { MemoryStall(pressure: $0) }
  }

  private var limitName: String {
    version == .one ? "memory.limit_in_bytes" : "memory.max"
  }

  private var useName: String {
    version == .one ? "memory.usage_in_bytes" : "memory.current"
  }

  /// The statistic of cached files without recent use, the first memory that the kernel reclaims.
  private var idleFilesName: String {
    version == .one ? "total_inactive_file" : "inactive_file"
  }
}
