/// A system call that failed while the server was being set up.
public struct SocketError: Error, CustomStringConvertible {
  /// The failed step, such as "bind".
  public let step: String
  /// The value of `errno`.
  public let code: Int32

  /// The step, and the system's message for the error.
  public var description: String { "\(step): \(Platform.message(for: code)) (errno \(code))" }

  /// Creates the error of the calling thread's last system call.
  init(in step: String) {
    self.step = step
    code = Platform.lastError
  }
}
