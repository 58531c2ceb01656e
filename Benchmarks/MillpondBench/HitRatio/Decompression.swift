import Foundation

/// The bytes of a file, decompressed by the command xz in a process of its own.
struct Decompression {
  /// The exit code of `env` for an absent command.
  private static let noCommand: Int32 = 127

  let url: URL
  var command = "xz"

  /// Passes the bytes on, piece by piece, to the end.
  ///
  /// - Throws: ``TraceError`` when there is no xz, or when it says that the file is damaged, cut,
  ///   or can't be read.
  func read(_ receive: (Data) -> Void) throws(TraceError) {
    let process = Process()
    let (output, complaints) = (Pipe(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [command, "-dc", "--", url.path(percentEncoded: false)]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = complaints
    let complaint: Data?
    do {
      try process.run()
      try output.fileHandleForReading.forEachChunk(receive)
      // Read last: a complaint of xz is a line, and fits into the pipe.
      complaint = try complaints.fileHandleForReading.readToEnd()
    } catch {
      throw .unreadable(url.relativePath, reason: error.localizedDescription)
    }
    process.waitUntilExit()
    if process.terminationStatus == Self.noCommand { throw .xzMissing(url.relativePath) }
    if process.terminationReason != .exit || process.terminationStatus != 0 {
      let reason = String(decoding: complaint ?? Data(), as: UTF8.self)
      throw .unreadable(
        url.relativePath, reason: reason.trimmingCharacters(in: .whitespacesAndNewlines))
    }
  }
}
