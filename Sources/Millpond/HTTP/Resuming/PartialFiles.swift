import Foundation
import MillpondSignals

/// The files of a folder whose names are of this store; others are left alone.
///
/// Blocks the thread: only for use on a queue that may block.
struct PartialFiles: Sendable {
  private let folder: URL
  private let protection: DiskProtection
  let system: FileSystem

  /// The files that could not be removed, with their sizes in bytes.
  private let needless = Locked<[String: Int]>([:])

  var path: String { folder.path }

  init(
    folder: URL, _ protection: DiskProtection = .afterFirstUnlock,
    _ system: FileSystem = FileSystem()
  ) {
    self.folder = folder
    self.protection = protection
    self.system = system
  }

  /// The kinds of files.
  enum Kind: String, CaseIterable {
    /// The first bytes of a body, and a ``ResumeFooter``.
    case partial = ".partial"

    /// A second name of a file into which a body is being streamed.
    case running = ".running"

    /// The journal of the download into a running file.
    case journal = ".journal"
  }

  @inline(never)
  static func name(_ name: String, _ kind: Kind) -> String { name.prefix(16) + kind.rawValue }

  /// Returns the file name of a resource.
  @inline(never)
  static func name(of identity: String, _ kind: Kind = .partial, _ hashKey: [UInt8] = []) -> String
  {
    FileName.digits(Fingerprint(hiding: Array(identity.utf8), 0, hashKey).first) + kind.rawValue
  }

  /// Returns the files, oldest first; removes incomplete ones, and those of former versions.
  func list() -> [(name: String, byteCount: Int)] {
    let names = (try? system.namesInFolder(path)) ?? []
    for name in names where Self.isHalfWritten(name) || Self.isFormer(name) { try? remove(name) }
    return names.compactMap { listed($0, Set(names)) }
      .sorted { $0.changed < $1.changed }
      .map { (name: $0.name, byteCount: $0.byteCount) }
  }

  /// Returns the entry of a file; a file into which a dead process was streaming counts as left by
  /// it in time.
  private func listed(
    _ name: String, _ names: Set<String>
  ) -> (name: String, byteCount: Int, changed: Date)? {
    guard Self.isOurs(name) else { return nil }
    switch Kind(rawValue: String(name.dropFirst(16))) {
    case .partial: return file(name)
    case .journal where isLeft(name):
      let partial = Self.name(name, .partial)
      if let found = file(Self.name(name, .running)), !names.contains(partial) {
        return (partial, found.byteCount, found.changed)
      }
      removeJournal(name)
    case .running where !names.contains(Self.name(name, .journal)): try? remove(name)
    case .journal, .running, nil: break
    }
    return nil
  }

  /// Returns the bytes that a file's footer describes; nil if they are damaged.
  func read(_ name: String, _ footer: ResumeFooter) -> Data? {
    let file = try? system.open(path(name), .reading)
    guard let bytes = try? file?.read(footer.byteCount, at: 0),
      bytes.fileChecksum == footer.checksum
    else { return nil }
    return bytes
  }

  /// Writes the first bytes of a body to a file beside the one for them, where ``take(_:_:_:)``
  /// moves it.
  func write(_ bytes: Data, beside name: String) throws -> UnfinishedFile {
    let new = name + Self.newSuffix
    try makeFolder()
    try remove(new)
    let file = try system.open(path(new), .making)
    try file.write(bytes)
    try file.close()
    return UnfinishedFile(
      path: path(new), byteCount: bytes.count, checksum: bytes.fileChecksum)
  }

  /// Returns the footer of a file; nil if the file is not of this store, or is to be removed.
  func footer(_ name: String) -> ResumeFooter? {
    if needless.withLock({ $0[name] != nil }) { return nil }
    return try? ResumeFooter(of: system.open(path(name), .reading))
  }

  /// Moves a file with the first bytes of a body here; if that fails, the former file is still
  /// there.
  func take(_ file: UnfinishedFile, _ head: PartialHead, _ name: String) throws {
    try makeFolder()
    let open = try system.open(file.path, .updating)
    try ResumeFooter(file, head).write(to: open)
    try open.close()
    // It can't be moved from another volume.
    try system.rename(file.path, to: path(name))
    needless.withLock { $0[name] = nil }
  }

  /// Removes a file that was written beside the one with this name.
  func removeHalfWritten(_ name: String) { try? remove(name + Self.newSuffix) }

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
    if name.hasSuffix(Kind.partial.rawValue), isLeft(Self.name(name, .journal)) {
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
      where Self.isOurs(name) || Self.isHalfWritten(name) || Self.isFormer(name) {
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
    // On a volume without classes the store still works.
    try? protection.apply(to: path)
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

  /// Whether a file has the form of a former version, which kept streamed bodies apart.
  private static func isFormer(_ name: String) -> Bool {
    FileName.number(name, ".streamed") != nil || FileName.number(name, ".streamed.new") != nil
  }

  private static let newSuffix = ".new"
}

extension Data {
  fileprivate var fileChecksum: UInt64 { withUnsafeBytes { FileChecksum(of: $0).sum } }
}
