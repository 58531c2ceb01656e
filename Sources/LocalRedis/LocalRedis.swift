public import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A server of this machine's own, for tests, figures and the demo: on a free port of 127.0.0.1 and a
/// Unix socket, with a fresh folder, and without saving anything.
///
/// The server ends with this object.
public final class LocalRedis: Sendable {
  /// The port on 127.0.0.1.
  public let port: UInt16

  /// The path of the Unix socket.
  public var socketPath: String { folder.appending(path: "socket").path }

  private let folder: URL
  private let program: URL
  private let arguments: [String]
  private let process = Mutex<Process?>(nil)

  /// The path of the server's program; nil if it is not installed.
  public static var program: URL? { find("redis-server") ?? find("valkey-server") }

  /// Returns the path of an installed program; nil if it is not installed.
  public static func find(_ name: String) -> URL? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    return (path.split(separator: ":").map { String($0) } + ["/opt/homebrew/bin"])
      .map { URL(filePath: $0).appending(path: name) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }

  /// Starts a server, and returns when it accepts connections.
  ///
  /// - Parameter options: Further options, such as `["--maxmemory", "1mb"]`.
  /// - Throws: ``LocalRedisError`` if none is installed, or it does not start.
  public init(_ options: [String] = []) throws {
    guard let program = Self.program else { throw LocalRedisError.notInstalled }
    self.program = program
    // Short, because the path of a Unix socket may have about a hundred bytes.
    folder = URL(filePath: NSTemporaryDirectory())
      .appending(path: "millpond-\(UInt32.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    arguments = options
    port = try Self.freePort()
    try start()
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: folder)
  }

  /// Starts the server again after ``kill()``, on the same port, and empty.
  public func start() throws {
    let server = Process()
    server.executableURL = program
    server.currentDirectoryURL = folder
    server.arguments =
      [
        "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
        "--daemonize", "no", "--logfile", "", "--unixsocket", socketPath,
      ] + arguments
    let output = Pipe()
    server.standardOutput = output
    server.standardError = FileHandle.nullDevice
    server.standardInput = FileHandle.nullDevice
    try server.run()
    process.withLock { $0 = server }
    var log = Data()
    while let piece = try output.fileHandleForReading.read(upToCount: 1), !piece.isEmpty {
      log.append(piece)
      if piece == Data("\n".utf8), log.range(of: Data("eady to accept connections".utf8)) != nil {
        // The log is not read any further; the server is silent enough for the pipe.
        return
      }
    }
    throw LocalRedisError.notStarted(log: String(decoding: log, as: UTF8.self))
  }

  /// Ends the server at once, without any notice to its clients.
  public func kill() {
    guard let server = process.withLock({ $0.take() }) else { return }
    send(SIGCONT, to: server)
    send(SIGKILL, to: server)
    server.waitUntilExit()
  }

  /// Stops the server in its tracks: its connections stay open, and nothing is answered.
  public func pause() { signal(SIGSTOP) }

  /// Continues a paused server.
  public func resume() { signal(SIGCONT) }

  private func signal(_ number: Int32) {
    if let server = process.withLock({ $0 }) { send(number, to: server) }
  }

  private func send(_ number: Int32, to server: Process) {
    sendSignal(server.processIdentifier, number)
  }

  /// Carries out a command by the server's own client, and returns what that prints.
  @discardableResult
  public func command(_ arguments: String...) throws -> String {
    guard let client = Self.find("redis-cli") ?? Self.find("valkey-cli") else {
      throw LocalRedisError.notInstalled
    }
    let process = Process()
    process.executableURL = client
    process.arguments = ["-p", "\(port)"] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  /// Ends a process at once, without any notice to it.
  public static func end(_ process: Process) {
    sendSignal(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  private static func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, streamType, 0)
    defer { _ = close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutableBytes(of: &address) { bytes -> Int32 in
      guard let start = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress else { return -1 }
      guard bind(descriptor, start, size) == 0 else { return -1 }
      return getsockname(descriptor, start, &size)
    }
    guard result == 0 else { throw LocalRedisError.noPort }
    return UInt16(bigEndian: address.sin_port)
  }

  #if canImport(Glibc)
    private static var streamType: Int32 { Int32(SOCK_STREAM.rawValue) }
  #else
    private static var streamType: Int32 { SOCK_STREAM }
  #endif
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
