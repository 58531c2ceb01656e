/// A system call that failed while the server was being set up.
public struct SocketError: Error, CustomStringConvertible {
  /// The step that failed, such as "bind".
  public let step: String
  /// The value of `errno`.
  public let code: Int32

  /// The step and the system's own words for the error.
  public var description: String { "\(step): \(Platform.message(for: code)) (errno \(code))" }

  /// What the calling thread's last system call failed with.
  init(in step: String) {
    self.step = step
    code = Platform.lastError
  }
}
