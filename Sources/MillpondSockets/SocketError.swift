/// A system call on sockets that failed.
public struct SocketError: Error, CustomStringConvertible {
  /// The failed call, such as "bind".
  public let step: String

  /// The value of `errno`.
  public let code: Int32

  /// The call, and the system's message for the error.
  public var description: String { "\(step): \(SocketCalls.message(for: code)) (errno \(code))" }

  /// Creates the error of the calling thread's last system call, or of a code.
  package init(in step: String, code: Int32 = SocketCalls.lastError) {
    self.step = step
    self.code = code
  }
}
