import Foundation

/// Complete operations on files, made of calls that may be interrupted or partial.
struct FileSystem: Sendable {
  let calls: any FileCalls

  init(_ calls: any FileCalls = POSIXCalls()) {
    self.calls = calls
  }

  func open(_ path: String, _ access: FileAccess) throws -> OpenFile {
    OpenFile(try calls.uninterrupted { try calls.open(path, access) }, path, calls)
  }

  /// Returns the status of a file, without following a link; nil if there is none.
  func status(_ path: String) throws -> FileStatus? { try ifThere { try calls.status(path) } }

  func rename(_ path: String, to newPath: String) throws {
    try calls.uninterrupted { try calls.rename(path, to: newPath) }
  }

  /// Gives a file a further name.
  func link(_ path: String, to newPath: String) throws {
    try calls.uninterrupted { try calls.link(path, to: newPath) }
  }

  @inline(never)
  func remove(_ path: String) throws { _ = try ifThere { try calls.remove(path) } }

  /// Makes a folder and its missing parents, for their owner only.
  func makeFolder(_ path: String) throws {
    do {
      try calls.uninterrupted { try calls.makeFolder(path) }
    } catch let error where CLibrary.code(error) == .EEXIST {
      return
    } catch let error where CLibrary.code(error) == .ENOENT {
      let parent = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
      if parent.isEmpty { throw error }
      try makeFolder(String(parent))
      do {
        try calls.uninterrupted { try calls.makeFolder(path) }
      } catch let error where CLibrary.code(error) == .EEXIST {
        // Another process was faster.
      }
    }
  }

  func namesInFolder(_ path: String) throws -> [String] {
    try calls.uninterrupted { try calls.namesInFolder(path) }
  }

  private func ifThere<Result>(_ call: () throws -> Result) throws -> Result? {
    do {
      return try calls.uninterrupted(call)
    } catch let error where CLibrary.code(error) == .ENOENT {
      return nil
    }
  }
}
