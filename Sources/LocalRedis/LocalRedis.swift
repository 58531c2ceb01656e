public import Foundation
import MillpondSockets
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A server of this machine's own, for tests, figures and the demo: on a free port of 127.0.0.1 and
/// a Unix socket, with a fresh folder, and without saving anything.
///
/// The server ends with this object, and with the process, however that ends.
public final class LocalRedis: Sendable {
  /// The port on 127.0.0.1.
  public let port: UInt16

  /// The path of the Unix socket.
  public var socketPath: String { folder.appending(path: "socket").path }

  /// The folder of the server.
  public let folder: URL

  private let program: URL
  private let configuration: String?
  private let arguments: [String]
  private let running = Mutex<Running?>(nil)

  /// A server that runs, and the pipe whose end makes its watcher kill it.
  private struct Running {
    let server: Process
    let watcher: FileHandle
  }

  /// Held while a program is started, since another one that is started at that moment would keep
  /// the ends of its pipes open, and nobody would see their end.
  private static let starting = NSLock()

  /// The path of the server's program; nil if it is not installed.
  public static var program: URL? { find("redis-server") ?? find("valkey-server") }

  /// Returns the path of an installed program; nil if it is not installed.
  ///
  /// - Parameter name: The name of the program, which is searched for in `PATH`.
  public static func find(_ name: String) -> URL? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    return (path.split(separator: ":").map { String($0) } + ["/opt/homebrew/bin"])
      .map { URL(filePath: $0).appending(path: name) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }

  /// The line of a server's log that says that it serves.
  public static let readyLine = "eady to accept connections"

  /// Starts a server, and returns when it serves.
  ///
  /// - Parameters:
  ///   - options: Further options, such as `["--maxmemory", "1mb"]`.
  ///   - configuration: The text of the file of its configuration, which a sentinel needs; nil for
  ///     none.
  ///   - line: A part of the line of its log after which this returns.
  /// - Throws: ``LocalRedisError`` if none is installed, or it does not start.
  public init(
    _ options: [String] = [], configuration: String? = nil, until line: String = readyLine
  ) throws {
    guard let program = Self.program else { throw LocalRedisError.notInstalled }
    self.program = program
    // Short, because the path of a Unix socket may have about a hundred bytes.
    folder = URL(filePath: NSTemporaryDirectory())
      .appending(path: "millpond-\(UInt32.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    arguments = options
    self.configuration = configuration
    try configuration?.write(
      to: folder.appending(path: "configuration"), atomically: true, encoding: .utf8)
    port = try Self.freePort()
    try start(until: line)
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: folder)
  }

  /// The commands of the shell that becomes the server.
  ///
  /// A watcher kills the server when a line arrives or the input ends, which it does also if this
  /// process was killed.
  private static let commands = """
    exec 3<&0
    (read line <&3; kill -9 $$) >/dev/null &
    exec "$@" </dev/null 3<&-
    """

  /// Starts the server again after ``kill()``, on the same port, with what it has saved.
  ///
  /// - Parameter line: A part of the line of its log after which this returns.
  public func start(until line: String = readyLine) throws {
    let server = Process()
    let log = try run(server)
    var lines: [String] = []
    while let next = try Self.line(of: log) {
      // The log is not read any further; the server is silent enough for the pipe.
      if next.contains(line) { return }
      lines.append(next)
    }
    throw LocalRedisError.notStarted(log: lines.joined(separator: "\n"))
  }

  /// Starts the server's process, and returns its log.
  private func run(_ server: Process) throws -> FileHandle {
    Self.starting.lock()
    defer { Self.starting.unlock() }
    let (input, output) = (Pipe(), Pipe())
    server.executableURL = URL(filePath: "/bin/sh")
    server.currentDirectoryURL = folder
    let file = configuration == nil ? [] : [folder.appending(path: "configuration").path]
    server.arguments =
      ["-c", Self.commands, "sh", program.path] + file + [
        "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
        "--daemonize", "no", "--logfile", "",
        "--unixsocket", socketPath,
      ] + arguments
    server.standardInput = input
    server.standardOutput = output
    server.standardError = FileHandle.nullDevice
    let watcher = input.fileHandleForWriting
    // Other servers that are started meanwhile must not keep it open.
    _ = fcntl(watcher.fileDescriptor, F_SETFD, FD_CLOEXEC)
    try server.run()
    running.withLock { $0 = Running(server: server, watcher: watcher) }
    return output.fileHandleForReading
  }

  /// Returns the next line; nil at the end.
  private static func line(of file: FileHandle) throws -> String? {
    var line = Data()
    while let byte = try file.read(upToCount: 1), !byte.isEmpty {
      if byte == Data("\n".utf8) { return String(decoding: line, as: UTF8.self) }
      line += byte
    }
    return nil
  }

  /// Ends the server at once, without any notice to its clients.
  public func kill() {
    guard let running = running.withLock({ $0.take() }) else { return }
    try? running.watcher.write(contentsOf: Data("\n".utf8))
    running.server.waitUntilExit()
  }

  /// Stops the server in its tracks: its connections stay open, and nothing is answered.
  public func pause() { signal(SIGSTOP) }

  /// Continues a paused server.
  public func resume() { signal(SIGCONT) }

  private func signal(_ number: Int32) {
    if let server = running.withLock({ $0?.server.processIdentifier }) {
      sendSignal(server, number)
    }
  }

  /// Carries out a command by the server's own client, and returns the output of the client.
  ///
  /// - Parameter arguments: The command and its arguments.
  @discardableResult
  public func command(_ arguments: String...) throws -> String { try command(arguments) }

  /// Carries out a command by the server's own client, and returns the output of the client.
  ///
  /// - Parameter arguments: The command and its arguments.
  @discardableResult
  public func command(_ arguments: [String]) throws -> String {
    guard let client = Self.find("redis-cli") ?? Self.find("valkey-cli") else {
      throw LocalRedisError.notInstalled
    }
    let process = Process()
    process.executableURL = client
    process.arguments = ["-p", "\(port)"] + arguments
    process.standardInput = FileHandle.nullDevice
    let output = try Self.outputOfStarted(process)
    let text = try output.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  private static func outputOfStarted(_ process: Process) throws -> FileHandle {
    starting.lock()
    defer { starting.unlock() }
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    return output.fileHandleForReading
  }

  /// Ends a process at once, without any notice to it.
  public static func end(_ process: Process) {
    sendSignal(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Returns a port of 127.0.0.1 that is free at present.
  public static func freePort() throws -> UInt16 {
    try Socket.bound().port
  }
}

private func sendSignal(_ process: Int32, _ number: Int32) { _ = kill(process, number) }

/// The reason why a server was not started.
public enum LocalRedisError: Error {
  /// Neither redis-server nor valkey-server is installed.
  case notInstalled

  /// There is no free port.
  case noPort

  /// The server ended; carries its log.
  case notStarted(log: String)
}
