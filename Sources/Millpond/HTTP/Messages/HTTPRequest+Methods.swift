public import Foundation

extension HTTPRequest {
  /// Returns a request for the head that a GET would return.
  ///
  /// - Parameters:
  ///   - url: The URL of the resource.
  ///   - headers: The fields of the request.
  public static func head(_ url: URL, headers: HeaderFields = [:]) -> HTTPRequest {
    HTTPRequest(url: url, method: .head, headers: headers)
  }

  /// Returns a request that has the resource process a body.
  ///
  ///     let receipt = try await api.send(.post(url, .json(order))).value.json(Receipt.self)
  ///
  /// - Parameters:
  ///   - url: The URL of the resource.
  ///   - body: The body; nil for none.
  ///   - headers: The fields of the request.
  public static func post(
    _ url: URL, _ body: HTTPBody? = nil, headers: HeaderFields = [:]
  ) -> HTTPRequest {
    HTTPRequest(url: url, method: .post, headers: headers, body: body)
  }

  /// Returns a request that replaces the resource by a body.
  ///
  /// - Parameters:
  ///   - url: The URL of the resource.
  ///   - body: The body; nil for none.
  ///   - headers: The fields of the request.
  public static func put(
    _ url: URL, _ body: HTTPBody? = nil, headers: HeaderFields = [:]
  ) -> HTTPRequest {
    HTTPRequest(url: url, method: .put, headers: headers, body: body)
  }

  /// Returns a request that changes a part of the resource.
  ///
  /// - Parameters:
  ///   - url: The URL of the resource.
  ///   - body: The body, which describes the change; nil for none.
  ///   - headers: The fields of the request.
  public static func patch(
    _ url: URL, _ body: HTTPBody? = nil, headers: HeaderFields = [:]
  ) -> HTTPRequest {
    HTTPRequest(url: url, method: .patch, headers: headers, body: body)
  }

  /// Returns a request that removes the resource.
  ///
  /// - Parameters:
  ///   - url: The URL of the resource.
  ///   - headers: The fields of the request.
  public static func delete(_ url: URL, headers: HeaderFields = [:]) -> HTTPRequest {
    HTTPRequest(url: url, method: .delete, headers: headers)
  }
}
