import Foundation

/// An address with credentials and a database, as settings of programs have it.
///
/// - Source: https://www.iana.org/assignments/uri-schemes/prov/redis and `rediss`; that of a Unix
///   socket as other clients write it, with the database in the query.
struct RedisURL: Sendable {
  let address: RedisAddress
  let username: String?
  let password: String?
  let database: Int

  init(_ text: String) throws(RedisError) {
    guard let parts = URLComponents(string: text), parts.fragment == nil,
      let address = RedisAddress(parts), let database = Self.database(parts)
    else { throw .invalidURL(Self.withoutCredentials(text)) }
    self.address = address
    self.database = database
    username = parts.user.flatMap { $0.isEmpty ? nil : $0 }
    password = parts.password
  }

  /// The number in the path or, behind the path of a socket, in the query; nil if it is none.
  private static func database(_ parts: URLComponents) -> Int? {
    let text: String
    if parts.scheme == "unix" {
      let items = parts.queryItems ?? []
      guard items.allSatisfy({ $0.name == "db" }), items.count <= 1 else { return nil }
      text = items.first.map { $0.value ?? "" } ?? "0"
    } else {
      if parts.query != nil { return nil }
      text = parts.path.isEmpty || parts.path == "/" ? "0" : String(parts.path.dropFirst())
    }
    guard let number = UInt16(text) else { return nil }
    return Int(number)
  }

  /// The text for errors: whatever may be a name or a password is left out.
  static func withoutCredentials(_ text: String) -> String {
    guard let end = text.lastIndex(of: "@") else { return text }
    let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
    return text[..<min(start, end)] + "…" + text[end...]
  }
}

extension RedisAddress {
  fileprivate init?(_ parts: URLComponents) {
    if parts.scheme == "unix" {
      guard parts.host ?? "" == "", parts.port == nil, parts.path.count > 1 else { return nil }
      self = .unix(path: parts.path)
      return
    }
    // A number of version 6 stands in brackets.
    let host = (parts.host ?? "").trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    guard !host.isEmpty, let port = UInt16(exactly: parts.port ?? 6379), port > 0 else {
      return nil
    }
    switch parts.scheme {
    case "redis": self = .tcp(host: host, port: port)
    case "rediss": self = .tls(host: host, port: port)
    default: return nil
    }
  }
}
