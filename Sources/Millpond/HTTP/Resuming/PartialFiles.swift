import Foundation
import MillpondSignals

/// The files of a folder whose names are of this store; others are left alone.
///
/// Blocks the thread: only for use on a queue that may block.
struct PartialFiles: Sendable {
  private let folder: URL
  let system: FileSystem

  /// The files that could not be removed, with their sizes in bytes.
  private let needless = Locked<[String: Int]>([:])

  var path: String { folder.path }

  init(folder: URL, _ system: FileSystem = FileSystem()) {
    self.folder = folder
    self.system = system
  }

  /// The kinds of files.
  enum Kind: String, CaseIterable {
    /// A body that was assembled in memory.
    case whole = ".partial"

    /// A body that was streamed into a file.
    case streamed = ".streamed"

    /// A second name of a file into which a body is being streamed.
    case running = ".running"

    /// The journal of the download into a running file.
    case journal = ".journal"
  }

  @inline(never)
  static func name(_ name: String, _ kind: Kind) -> String { name.prefix(16) + kind.rawValue }

  /// Returns the file name of a resource.
  @inline(never)
  static func name(of identity: String, _ kind: Kind = .whole) -> String {
    FileName.digits(FoldHash.hash(identity, seed: 0)) + kind.rawValue
  }

  /// Returns the files, oldest first; removes incomplete ones.
  func list() -> [(name: String, byteCount: Int)] {
    let names = (try? system.namesInFolder(path)) ?? []
    for name in names where Self.isHalfWritten(name) { try? remove(name) }
    return names.compactMap { listed($0, Set(names)) }
      .sorted { $0.changed < $1.changed }
      .map { (name: $0.name, byteCount: $0.byteCount) }
  }

  /// Returns the entry of a file; a file into which a dead process was streaming counts as
  /// streamed.
  private func listed(
    _ name: String, _ names: Set<String>
  ) -> (name: String, byteCount: Int, changed: Date)? {
    guard Self.isOurs(name) else { return nil }
    switch Kind(rawValue: String(name.dropFirst(16))) {
    case .whole, .streamed: return file(name)
    case .journal where isLeft(name):
      let streamed = Self.name(name, .streamed)
      if let found = file(Self.name(name, .running)), !names.contains(streamed) {
        return (streamed, found.byteCount, found.changed)
      }
      removeJournal(name)
    case .running where !names.contains(Self.name(name, .journal)): try? remove(name)
    case .journal, .running, nil: break
    }
    return nil
  }

  /// Returns a file's bytes; nil if there is no such file, or if it is too large to be one of this
  /// store.
  func read(_ name: String, byteLimit: Int) -> Data? {
    guard let file = file(name), file.byteCount <= byteLimit else { return nil }
    return try? Data(contentsOf: folder.appendingPathComponent(name))
  }

  /// Writes a whole file; on false the former file is still there.
  func write(_ data: Data, _ name: String) -> Bool {
    let new = name + Self.newSuffix
    do {
      try makeFolder()
      try remove(new)
      let file = try system.open(path(new), .making)
      try file.write(data)
      try file.close()
      try system.rename(path(new), to: path(name))
      needless.withLock { $0[name] = nil }
      return true
    } catch {
      try? remove(new)
      return false
    }
  }

  /// Returns the footer of a file; nil if the file is not of this store, or is to be removed.
  func footer(_ name: String) -> ResumeFooter? {
    if needless.withLock({ $0[name] != nil }) { return nil }
    return try? ResumeFooter(of: system.open(path(name), .reading))
  }

  /// Moves a file with the first bytes of a body here; returns whether that succeeded.
  func take(_ file: UnfinishedFile, _ footer: ResumeFooter, _ name: String) -> Bool {
    do {
      try makeFolder()
      let open = try system.open(file.path, .updating)
      try footer.write(to: open)
      try open.close()
      // It can't be moved from another volume.
      try system.rename(file.path, to: path(name))
      needless.withLock { $0[name] = nil }
      return true
    } catch {
      return false
    }
  }

  /// Removes a file, if it exists, and what a dead process has left of it.
  ///
  /// A later ``removeNeedless()`` tries again with a file that can't be removed now.
  func remove(_ name: String) throws {
    do {
      try system.remove(path(name))
    } catch {
      let byteCount = min(file(name)?.byteCount ?? 0, 1 << 50)
      needless.withLock { $0[name] = byteCount }
      throw error
    }
    needless.withLock { $0[name] = nil }
    if name.hasSuffix(Kind.streamed.rawValue), isLeft(Self.name(name, .journal)) {
      removeJournal(name)
    }
  }

  /// Removes what could not be removed before, as far as that succeeds now.
  ///
  /// - Returns: The size in bytes of what is left.
  @discardableResult
  func removeNeedless() -> Int {
    for name in needless.withLock({ Array($0.keys) }) { try? remove(name) }
    return needless.withLock { $0.values.reduce(0, +) }
  }

  /// Removes all files, known or not; continues after a failure.
  func removeAll() throws {
    var failure: (any Error)?
    do {
      for name in try system.namesInFolder(path)
      where Self.isOurs(name) || Self.isHalfWritten(name) {
        do {
          if try system.status(path(name))?.isRegular == true { try remove(name) }
        } catch {
          failure = failure ?? error
        }
      }
    } catch let error as POSIXError where error.code == .ENOENT || error.code == .ENOTDIR {
      return  // There is no folder, and nothing in it.
    }
    if let failure { throw failure }
  }

  func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// Makes the folder if it is missing; fails for a URL that is not of a file.
  func makeFolder() throws {
    guard folder.isFileURL else { throw CLibrary.failure(.EINVAL, path) }
    try system.makeFolder(path)
  }

  /// Returns the entry of a file; nil if it is not a regular file: a pipe would block its reader.
  private func file(_ name: String) -> (name: String, byteCount: Int, changed: Date)? {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path(name)),
      attributes[.type] as? FileAttributeType == .typeRegular,
      let byteCount = (attributes[.size] as? NSNumber)?.int64Value
    else { return nil }
    let changed = attributes[.modificationDate] as? Date ?? .distantPast
    return (name, Int(clamping: byteCount), changed)
  }

  private static func isOurs(_ name: String) -> Bool {
    Kind.allCases.contains { FileName.number(name, $0.rawValue) != nil }
  }

  private static func isHalfWritten(_ name: String) -> Bool {
    Kind.allCases.contains { FileName.number(name, $0.rawValue + newSuffix) != nil }
  }

  private static let newSuffix = ".new"
}
