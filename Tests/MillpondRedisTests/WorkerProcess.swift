import Foundation
import LocalRedis

/// Another process, with a memory layer of its own.
final class WorkerProcess: Sendable {
  private let process: Process
  private let input: FileHandle
  private let output: FileHandle

  /// The first line of the process, after which it is ready.
  let greeting: String

  /// Starts a process that uses a server.
  ///
  /// - Parameters:
  ///   - server: The server to use.
  ///   - lease: The time for which a get leases a key, in milliseconds.
  convenience init(_ server: LocalRedis, lease: Int = 60_000) throws {
    try self.init(["\(server.port)", "\(lease)"])
  }

  /// Starts a process, which is ready when this returns.
  init(_ arguments: [String]) throws {
    // Beside the tests, in the folder of the build.
    let tests = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    let (input, output) = (Pipe(), Pipe())
    process = Process()
    process.executableURL = tests.deletingLastPathComponent().appending(path: "RedisWorker")
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    self.input = input.fileHandleForWriting
    self.output = output.fileHandleForReading
    try process.run()
    greeting = try Self.line(of: self.output)
  }

  deinit { kill() }

  /// Sends a command and returns the answer.
  func callAsFunction(_ command: String) throws -> String {
    try send(command)
    return try line()
  }

  /// Sends a command whose answer is read later.
  func send(_ command: String) throws { try input.write(contentsOf: Data((command + "\n").utf8)) }

  /// Returns the next answer.
  func line() throws -> String { try Self.line(of: output) }

  private static func line(of output: FileHandle) throws -> String {
    var line = Data()
    while let byte = try output.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) {
      line += byte
    }
    return String(decoding: line, as: UTF8.self)
  }

  /// Waits until the server reports changes to the process.
  func tracks() throws {
    while try self("pass") != "tracking" {}
  }

  /// Ends the process at once.
  func kill() {
    if !process.isRunning { return }
    LocalRedis.end(process)
  }
}
