/// What an answer begins with.
public struct HTTPHead: Sendable {
  /// The status code, such as 200.
  public let status: Int

  /// The header fields.
  public let headers: HeaderFields

  /// States what an answer began with.
  public init(status: Int, headers: HeaderFields = [:]) {
    self.status = status
    self.headers = headers
  }
}
