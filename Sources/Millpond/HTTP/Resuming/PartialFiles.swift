import Foundation
import MillpondSignals

/// The files of a folder whose names are of this store; others are left alone.
///
/// Each beginning of a body has a name, and two files: its bytes, and their ``PartialHead``. While a
/// body is being streamed into a file elsewhere, the bytes are a second name of that file.
///
/// Blocks the thread: only for use on a queue that may block.
struct PartialFiles: Sendable {
  let folder: URL
  let protection: DiskProtection
  let system: FileSystem

  var path: String { folder.path }

  /// The kinds of files, as the ends of their names.
  enum Kind: String, CaseIterable {
    case bytes = ".partial"
    case head = ".partial-head"

    /// Bytes that are not complete yet.
    case new = ".partial.new"
  }

  /// Returns the name for a resource.
  static func name(of identity: String, _ hashKey: [UInt8] = []) -> String {
    FileName.digits(Fingerprint(hiding: Array(identity.utf8), 0, hashKey).first)
  }

  /// Returns the names that have both files, oldest first; removes other files.
  func list() -> [(name: String, byteCount: Int)] {
    let files = Set((try? system.namesInFolder(path)) ?? [])
    for file in files where Self.isFormer(file) {
      try? system.remove(folder.appendingPathComponent(file).path)
    }
    return names(in: files).compactMap { name -> (name: String, status: Status)? in
      if files.contains(name + Kind.head.rawValue), let status = status(name) {
        removeUnkept(name)
        return (name, status)
      }
      try? remove(name)
      return nil
    }
    .sorted { $0.status.changed < $1.status.changed }
    .map { (name: $0.name, byteCount: $0.status.byteCount) }
  }

  /// Whether a file has the form of a former version.
  private static func isFormer(_ file: String) -> Bool {
    [".streamed", ".streamed.new", ".running", ".journal"].contains {
      FileName.number(file, $0) != nil
    }
  }

  private func names(in files: Set<String>) -> Set<String> {
    let own = files.filter { file in
      Kind.allCases.contains { FileName.number(file, $0.rawValue) != nil }
    }
    return Set(own.map { String($0.prefix(16)) })
  }

  /// Returns the description of bytes that can be resumed: as many as it says are there, and their
  /// file is not being written, nor that of a value.
  func head(_ name: String) -> PartialHead? {
    guard let head = try? PartialHead(of: system.open(path(name, .head), .reading)),
      let status = status(name), status.nameCount == 1, status.byteCount >= head.byteCount
    else { return nil }
    return head
  }

  /// Returns the bytes that a head describes; nil if they are damaged.
  func read(_ name: String, _ head: PartialHead) -> Data? {
    let file = try? system.open(path(name), .reading)
    guard let bytes = try? file?.read(head.byteCount, at: 0), bytes.fileChecksum == head.checksum
    else { return nil }
    return bytes
  }

  /// Writes the first bytes of a body to a file of their own, which ``keep(_:_:_:)`` takes.
  func write(_ bytes: Data, _ name: String) throws -> UnfinishedFile {
    try makeFolder()
    try system.remove(path(name, .new))
    let file = try system.open(path(name, .new), .making)
    try file.write(bytes)
    try file.close()
    return UnfinishedFile(
      path: path(name, .new), byteCount: bytes.count, checksum: bytes.fileChecksum)
  }

  /// Moves a file with the first bytes of a body here.
  func keep(_ file: UnfinishedFile, _ head: PartialHead, _ name: String) throws {
    try makeFolder()
    // It can't be moved from another volume.
    try system.rename(file.path, to: path(name))
    let open = try system.open(path(name, .head), .sharing)
    try head.write(to: open)
    try open.close()
  }

  /// Gives a file into which a body is being streamed a second name here; returns the file for its
  /// head, or nil if either can't be made.
  func follow(_ file: UnfinishedFile, _ name: String) -> OpenFile? {
    do {
      try makeFolder()
      try remove(name)
      let head = try system.open(path(name, .head), .making)
      try system.link(file.path, to: path(name))
      return head
    } catch {
      try? remove(name)
      return nil
    }
  }

  /// Removes the head alone, since the bytes have been taken.
  func removeHead(_ name: String) { try? system.remove(path(name, .head)) }

  /// Removes the file that ``write(_:_:)`` has made, if it was not kept.
  func removeUnkept(_ name: String) { try? system.remove(path(name, .new)) }

  /// Removes the files of a name, as far as they exist: first the head, without which there is
  /// nothing.
  func remove(_ name: String) throws {
    for kind in [Kind.head, .bytes, .new] { try system.remove(path(name, kind)) }
  }

  /// Removes all files, known or not; continues after a failure.
  func removeAll() throws {
    var failure: (any Error)?
    do {
      for name in names(in: Set(try system.namesInFolder(path))) {
        do { try remove(name) } catch { failure = failure ?? error }
      }
    } catch let error as POSIXError where error.code == .ENOENT || error.code == .ENOTDIR {
      return  // There is no folder, and nothing in it.
    }
    if let failure { throw failure }
  }

  func path(_ name: String, _ kind: Kind = .bytes) -> String {
    folder.appendingPathComponent(name + kind.rawValue).path
  }

  /// Makes the folder if it is missing; fails for a URL that is not of a file.
  private func makeFolder() throws {
    guard folder.isFileURL else { throw CLibrary.failure(.EINVAL, path) }
    try system.makeFolder(path)
    // On a volume without classes the store still works.
    try? protection.apply(to: path)
  }

  private struct Status {
    let byteCount: Int
    let nameCount: Int
    let changed: Date
  }

  /// Returns the status of the bytes of a name; nil if they are no regular file: a pipe would block
  /// its reader.
  private func status(_ name: String) -> Status? {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path(name)),
      attributes[.type] as? FileAttributeType == .typeRegular,
      let byteCount = (attributes[.size] as? NSNumber)?.int64Value
    else { return nil }
    return Status(
      byteCount: Int(clamping: byteCount),
      nameCount: (attributes[.referenceCount] as? NSNumber)?.intValue ?? 1,
      changed: attributes[.modificationDate] as? Date ?? .distantPast)
  }
}

extension Data {
  fileprivate var fileChecksum: UInt64 { withUnsafeBytes { FileChecksum(of: $0).sum } }
}
