public import Foundation
public import MillpondCore
public import MillpondSignals

/// What a transport is to ask for, by the method GET.
public struct HTTPRequest: Sendable {
  /// Where; an `http` or `https` URL with a host.
  public let url: URL

  /// Fields to send along with the transport's own.
  public internal(set) var headers: HeaderFields

  /// Fields that prove who asks.
  ///
  /// They are sent along as ``headers`` are, but to the scheme, host and port of ``url`` alone: not
  /// to where another origin is redirected to.
  public internal(set) var credentials: HeaderFields

  /// How urgent the answer is; ``HTTPSource`` sets it for each get.
  public internal(set) var priority: Priority

  /// Whether the body is passed on in parts, to a subscriber that may be slow.
  var isStreamed = false

  private var asking: Lookup?

  private let name: String?

  /// States what to ask for.
  ///
  /// - Parameter identity: What names the resource for as long as it exists, for a URL that does
  ///   not, as one that is signed for an hour; by default the URL.
  public init(
    url: URL, headers: HeaderFields = [:], credentials: HeaderFields = [:],
    identity: String? = nil, priority: Priority = .normal
  ) {
    self.url = url
    self.headers = headers
    self.credentials = credentials
    self.priority = priority
    name = identity
  }

  /// What names the resource: by this, bytes of a broken transfer are found again.
  public var identity: String {
    name ?? url.absoluteString
  }
}

extension HTTPRequest {
  /// Calls `act` each time the answer becomes more urgent, because of another subscriber that waits for it.
  ///
  ///     let raising = request.onRaise { call.priority = $0 }
  ///     lifetime.onEnd { raising?.dispose() }
  ///
  /// - Parameter act: Runs on the thread of that subscriber.
  /// - Returns: A handle that ends the calls; nil if the priority cannot change.
  public func onRaise(_ act: @escaping @Sendable (Priority) -> Void) -> Disposable? {
    asking?.onRaise(act)
  }

  /// How urgent the answer is now.
  var currentPriority: Priority {
    lookup.priority
  }

  /// The terms of the get that asks.
  var lookup: Lookup {
    asking ?? Lookup(priority: priority)
  }

  /// The same request on the terms of a get.
  func asked(by lookup: Lookup) -> HTTPRequest {
    var request = self
    request.priority = lookup.priority
    request.asking = lookup
    // RFC 9111 §5.2.1.4: what no cache on the way may answer by itself.
    if lookup.freshness == .reload { request.headers.append("no-cache", for: "Cache-Control") }
    return request
  }

  /// The same request with these credentials; they replace fields of the same names.
  func authorized(by credentials: HeaderFields) -> HTTPRequest {
    var request = self
    for field in credentials.fields {
      request.headers.set(nil, for: field.name)
      request.credentials.set(nil, for: field.name)
    }
    request.credentials.append(credentials)
    return request
  }
}
