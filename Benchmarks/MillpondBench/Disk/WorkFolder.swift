import Foundation

/// The working folder of one run.
struct WorkFolder: Sendable {
  let path: String

  /// Whether its files are in memory only.
  let isInMemory: Bool

  /// - Throws: ``FileTrouble`` when it can't be made.
  init(in folder: String) throws {
    path = folder + "/millpond-bench-" + UUID().uuidString
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    } catch {
      throw FileTrouble(
        path: folder, reason: "can't make a folder there: \(error.localizedDescription)")
    }
    isInMemory = isMemory(path)
  }

  func path(of name: String) -> String {
    path + "/" + name
  }

  /// Removes the folder.
  func clear() {
    try? FileManager.default.removeItem(atPath: path)
  }
}

extension FileManager {
  /// Makes an empty folder, and replaces an existing one.
  func makeNewFolder(_ path: String) throws {
    try removeFolder(path)
    try createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  /// Removes a folder, if there is one.
  func removeFolder(_ path: String) throws {
    if fileExists(atPath: path) { try removeItem(atPath: path) }
  }
}
