import Foundation

/// Whole operations on files, made of calls that may be interrupted or do half of it.
struct FileSystem: Sendable {
  let calls: any FileCalls

  init(_ calls: any FileCalls = POSIXCalls()) {
    self.calls = calls
  }

  func open(_ path: String, _ access: FileAccess) throws -> OpenFile {
    OpenFile(try uninterrupted { try calls.open(path, access) }, path, self)
  }

  /// What lies at a path, which is not followed if it is a link; nil if nothing does.
  func status(_ path: String) throws -> FileStatus? {
    try ifThere { try calls.status(path) }
  }

  func rename(_ path: String, to newPath: String) throws {
    try uninterrupted { try calls.rename(path, to: newPath) }
  }

  /// Removes a file, if it is there.
  func remove(_ path: String) throws {
    _ = try ifThere { try calls.remove(path) }
  }

  /// Makes a folder, and those above it that are missing, for its owner only.
  func makeFolder(_ path: String) throws {
    do {
      try uninterrupted { try calls.makeFolder(path) }
    } catch let error as POSIXError where error.code == .EEXIST {
      return
    } catch let error as POSIXError where error.code == .ENOENT {
      let parent = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
      if parent.isEmpty { throw error }
      try makeFolder(String(parent))
      try makeFolderHere(path)
    }
  }

  private func makeFolderHere(_ path: String) throws {
    do {
      try uninterrupted { try calls.makeFolder(path) }
    } catch let error as POSIXError where error.code == .EEXIST {
      // Another process was quicker.
    }
  }

  func namesInFolder(_ path: String) throws -> [String] {
    try uninterrupted { try calls.namesInFolder(path) }
  }

  func uninterrupted<Result>(_ call: () throws -> Result) throws -> Result {
    while true {
      do {
        return try call()
      } catch let error as POSIXError where error.code == .EINTR {
        continue
      }
    }
  }

  private func ifThere<Result>(_ call: () throws -> Result) throws -> Result? {
    do {
      return try uninterrupted(call)
    } catch let error as POSIXError where error.code == .ENOENT {
      return nil
    }
  }
}
