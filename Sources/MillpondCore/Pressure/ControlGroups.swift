/// Where in the trees of control groups a process is.
struct ControlGroups: Sendable, Equatable {
  /// Its path in the tree of version 1 that limits memory; nil if there is none.
  private(set) var memoryPath: String?

  /// Its path in the tree of version 2.
  private(set) var unifiedPath: String

  /// At the top of either tree: what to assume where nothing is known.
  init() {
    memoryPath = "/"
    unifiedPath = "/"
  }

  /// As `/proc/self/cgroup` tells it, in lines `number:controllers:path`.
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

  /// Every group whose limit counts, the process's own first in each tree.
  ///
  /// - Parameter root: Where the trees are mounted. That of version 2 may be in `unified`, beside
  ///   those of version 1.
  func groups(root: String) -> [ControlGroup] {
    let ones = memoryPath.map { Self.lineage($0) } ?? []
    let twos = Self.lineage(unifiedPath)
    return ones.map { ControlGroup(folder: "\(root)/memory\($0)", version: .one) }
      + twos.map { ControlGroup(folder: "\(root)\($0)", version: .two) }
      + twos.map { ControlGroup(folder: "\(root)/unified\($0)", version: .two) }
  }

  /// A path and those above it, down to the empty one, which is the top.
  ///
  /// In a container the path may be one that is seen from outside only; then just the top is
  /// there. So it is, without asking, for a path that leads out of what can be seen.
  private static func lineage(_ path: String) -> [String] {
    var components = path.split(separator: "/")
    if components.contains("..") { return [""] }
    var paths: [String] = []
    while !components.isEmpty, paths.count < 64 {  // nobody nests deeper; the text may be garbage
      paths.append("/" + components.joined(separator: "/"))
      components.removeLast()
    }
    return paths + [""]
  }
}

/// A folder of the kernel's in which a group's limit and use of memory are told.
struct ControlGroup: Sendable, Equatable {
  enum Version: Sendable {
    case one, two
  }

  let folder: String
  let version: Version

  /// The room there is under the group's own limit; nil without one that is less than `endless`.
  ///
  /// The use is asked for only if there is one: to count it up is work for the kernel.
  func room(below endless: Int, _ text: (String) -> String?) -> MemoryUse? {
    guard let limit = text("\(folder)/\(limitName)").flatMap({ KernelText.bytes($0) }),
      limit < endless,
      let used = text("\(folder)/\(useName)").flatMap({ KernelText.bytes($0) }),
      let stat = text("\(folder)/memory.stat"),
      let idleFiles = KernelText.bytes(of: idleFilesName, in: stat)
    else { return nil }
    return MemoryUse(used: used - idleFiles, limit: limit)
  }

  /// How its tasks waited; nil where it doesn't tell.
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

  /// Files kept in memory that were not used of late: the first to go when somebody needs room.
  private var idleFilesName: String {
    version == .one ? "total_inactive_file" : "inactive_file"
  }
}
