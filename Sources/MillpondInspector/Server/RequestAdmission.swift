import MillpondSockets

/// The rules by which requests are admitted.
///
/// A page of another origin can make a browser send requests here, also under a name that it made
/// point to 127.0.0.1. So the request needs the token, names this host, and comes from this origin
/// if it names one; a request that changes something has to name it.
struct RequestAdmission: Sendable {
  /// The parts of the page.
  enum Route: Sendable, Equatable {
    case page, events, metrics, remove, trim
  }

  /// A request that is not admitted.
  struct Refused: Error, Equatable {
    let status: Int
  }

  /// The longest accepted head and body, in bytes.
  static let (headByteLimit, bodyByteLimit) = (8 * 1_024, 4 * 1_024)

  let token: AccessToken
  let port: UInt16

  /// Returns the part of the page that is asked for.
  func route(_ head: RequestHead) throws(Refused) -> Route {
    let request = head.request
    let hosts = ["127.0.0.1:\(port)", "localhost:\(port)"]
    let named = request.headers.allValues(of: "Host")
    guard named.count == 1, hosts.contains(named[0].lowercased()) else {
      throw Refused(status: 403)
    }
    let origins = request.headers.allValues(of: "Origin")
    guard origins.allSatisfy({ $0.lowercased() == "http://\(named[0].lowercased())" }) else {
      throw Refused(status: 403)
    }
    guard let rest = token.rest(of: request.path) else { throw Refused(status: 404) }
    let route = try route(to: rest)
    let isChange = route == .remove || route == .trim
    guard request.method == (isChange ? "POST" : "GET") else { throw Refused(status: 405) }
    if isChange, origins.isEmpty { throw Refused(status: 403) }
    if head.isChunked { throw Refused(status: 411) }
    guard head.bodyByteCount <= Self.bodyByteLimit else { throw Refused(status: 413) }
    return route
  }

  private func route(to rest: String) throws(Refused) -> Route {
    switch rest {
    case "": .page
    case "events": .events
    case "metrics": .metrics
    case "remove": .remove
    case "trim": .trim
    default: throw Refused(status: 404)
    }
  }
}
