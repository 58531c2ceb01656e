public import Foundation

/// The complete answer to a request.
public struct HTTPResponse: Sendable {
  /// The status code, such as 201.
  public let status: Int

  /// The header fields.
  public let headers: HeaderFields

  /// The body, decompressed; empty if there is none.
  public let body: Data

  /// Creates an answer.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - headers: The header fields.
  ///   - body: The body.
  public init(status: Int, headers: HeaderFields = [:], body: Data = Data()) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Returns the value that the body is as JSON.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - decoder: The decoder.
  /// - Throws: The decoder's error.
  public func json<Value: Decodable>(
    _ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try decoder.decode(type, from: body)
  }
}

extension HTTPResponse: CustomStringConvertible {
  /// The status and the number of bytes, without fields and bytes.
  public var description: String { "status \(status), \(body.count) bytes" }
}

extension HTTPResponse: CustomReflectable {
  /// No children, so that a dump shows no bytes.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
