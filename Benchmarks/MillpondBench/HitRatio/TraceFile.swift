import Foundation

/// A file that contains a trace, plain or compressed by xz.
struct TraceFile {
  let url: URL

  /// The name of the file without its suffixes.
  let name: String

  /// Whether the trace knows sizes.
  var isSized: Bool {
    record == .keyAndSize
  }

  private let record: TraceRecord
  private let isCompressed: Bool

  /// Returns nil for a file without a trace's suffix.
  init?(_ url: URL) {
    let parts = url.lastPathComponent.split(separator: ".", omittingEmptySubsequences: false)
    isCompressed = parts.last == "xz"
    let format = parts.dropLast(isCompressed ? 1 : 0)
    guard format.count > 1, let record = format.last.flatMap({ TraceRecord(rawValue: "\($0)") })
    else { return nil }
    self.record = record
    self.url = url
    name = format.dropLast().joined(separator: ".")
  }

  /// Returns the traces of a folder, and of the folders in it, by their paths.
  ///
  /// - Throws: ``TraceError`` when there are none, or the folder can't be read.
  static func all(in folder: String) throws(TraceError) -> [TraceFile] {
    let root = URL(filePath: folder, directoryHint: .isDirectory)
    let content = try list(root)
    var files = content
    for folder in content where folder.hasDirectoryPath { files += try list(folder) }
    let traces = files.filter { !$0.hasDirectoryPath }.sorted { $0.path() < $1.path() }
      .compactMap { TraceFile($0) }
    if traces.isEmpty { throw .none(in: folder) }
    return traces
  }

  private static func list(_ folder: URL) throws(TraceError) -> [URL] {
    do {
      return try FileManager.default.contentsOfDirectory(
        at: folder, includingPropertiesForKeys: [.isDirectoryKey], options: .skipsHiddenFiles)
    } catch {
      throw .unreadable(folder.relativePath, reason: error.localizedDescription)
    }
  }

  /// Reads the whole trace.
  ///
  /// - Throws: ``TraceError`` when the file can't be read or is cut.
  func read() throws(TraceError) -> Trace {
    var reader = TraceReader(record)
    if isCompressed {
      try Decompression(url: url).read { reader.receive($0) }
    } else {
      try readPlain { reader.receive($0) }
    }
    return try reader.trace(name: name)
  }

  private func readPlain(_ receive: (Data) -> Void) throws(TraceError) {
    do {
      try FileHandle(forReadingFrom: url).forEachChunk(receive)
    } catch {
      throw .unreadable(url.relativePath, reason: error.localizedDescription)
    }
  }
}
