import Foundation

/// A file that contains a trace, plain or compressed by xz: records of one length, little-endian.
struct TraceFile {
  let url: URL

  /// The name of the file without its suffixes.
  let name: String

  /// Whether a record has a size of 4 bytes after its key of 8 bytes.
  private let isSized: Bool

  private let isCompressed: Bool

  /// Returns nil for a file without a trace's suffix.
  init?(_ url: URL) {
    let parts = url.lastPathComponent.split(separator: ".", omittingEmptySubsequences: false)
    isCompressed = parts.last == "xz"
    let format = parts.dropLast(isCompressed ? 1 : 0)
    guard format.count > 1, let last = format.last, ["u64", "u64u32"].contains(last) else {
      return nil
    }
    isSized = last == "u64u32"
    self.url = url
    name = format.dropLast().joined(separator: ".")
  }

  /// Returns the traces of a folder, and of the folders in it, by their paths.
  ///
  /// - Throws: ``FileTrouble`` when there are none.
  static func all(in folder: String) throws -> [TraceFile] {
    let traces = try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
      .map { URL(filePath: folder).appending(path: $0) }
      .filter { try $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile ?? false }
      .compactMap { TraceFile($0) }
    if traces.isEmpty { throw FileTrouble(path: folder, reason: "no traces there; see --help") }
    return traces
  }

  /// Reads the whole trace.
  ///
  /// - Throws: ``FileTrouble`` when the file is cut or empty, or can't be decompressed.
  func read() throws -> Trace {
    let bytes = isCompressed ? try decompressed() : try Data(contentsOf: url)
    let length = isSized ? 12 : 8
    if bytes.isEmpty || !bytes.count.isMultiple(of: length) {
      throw FileTrouble(path: url.relativePath, reason: "no records of \(length) bytes")
    }
    return bytes.withUnsafeBytes { bytes in
      let starts = stride(from: 0, to: bytes.count, by: length)
      let keys = starts.map {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self))
      }
      if !isSized { return Trace(name: name, keys: keys) }
      let sizes = starts.map {
        UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 + 8, as: UInt32.self))
      }
      return Trace(name: name, keys: keys, sizes: sizes)
    }
  }

  /// Returns the bytes, decompressed by the command xz in a process of its own.
  private func decompressed() throws -> Data {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["xz", "-dc", "--", url.path(percentEncoded: false)]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    try process.run()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    if process.terminationReason != .exit || process.terminationStatus != 0 {
      throw FileTrouble(
        path: url.relativePath, reason: "xz is not installed, or can't decompress it")
    }
    return bytes
  }
}
