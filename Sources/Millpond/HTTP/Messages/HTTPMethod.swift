/// The method of a request.
///
///     HTTPRequest(url: url, method: .delete)
///     HTTPRequest(url: url, method: "PURGE")
///
/// Any text is accepted here; a request whose method is not a token of RFC 9110 §5.6.2 fails before
/// anything is sent.
public struct HTTPMethod: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The name, as it is sent.
  public let name: String

  /// Creates a method.
  ///
  /// - Parameter name: The name, which is case-sensitive; the names of the methods below are
  ///   recognised in any case, since some transports send them in capitals whatever they are given.
  public init(_ name: String) {
    let capitals = name.uppercased()
    self.name = Self.usual.contains(capitals) ? capitals : name
  }

  /// Creates a method of a literal.
  ///
  /// - Parameter name: The name of the method.
  public init(stringLiteral name: String) { self.init(name) }

  /// The name.
  public var description: String { name }

  /// Returns the current value of a resource.
  public static let get = HTTPMethod("GET")

  /// Returns only the head that ``get`` would return.
  public static let head = HTTPMethod("HEAD")

  /// Has the resource process the body.
  public static let post = HTTPMethod("POST")

  /// Replaces the resource by the body.
  public static let put = HTTPMethod("PUT")

  /// Changes a part of the resource.
  public static let patch = HTTPMethod("PATCH")

  /// Removes the resource.
  public static let delete = HTTPMethod("DELETE")

  /// Returns what the resource can be asked.
  public static let options = HTTPMethod("OPTIONS")

  private static let usual: Set<String> = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS",
  ]

  /// A list, not a set, since nearly all requests have the first of them.
  private static let safe = [
    "GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT", "SEARCH",
  ]

  /// Whether requests only read: GET, HEAD, OPTIONS, TRACE, QUERY, PROPFIND, REPORT and SEARCH;
  /// false for an unknown method.
  ///
  /// - Source: RFC 9110 §9.2.1; draft-ietf-httpbis-safe-method-w-body for QUERY; IANA's registry of
  ///   methods for the last three.
  public var isSafe: Bool { Self.safe.contains(name) }

  /// Whether several identical requests have the effect of one: the safe methods, PUT and DELETE;
  /// false for an unknown method.
  ///
  /// - Source: RFC 9110 §9.2.2.
  public var isIdempotent: Bool { isSafe || name == "PUT" || name == "DELETE" }
}
