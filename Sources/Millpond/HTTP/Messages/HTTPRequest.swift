public import Foundation
public import MillpondCore
public import MillpondSignals

/// A GET request for a transport.
public struct HTTPRequest: Sendable {
  /// The URL; `http` or `https`, with a host.
  public let url: URL

  /// The fields to send in addition to the transport's own.
  public internal(set) var headers: HeaderFields

  /// The fields that authenticate the caller.
  ///
  /// They are sent like ``headers``, but only to the scheme, host and port of ``url``: a redirect
  /// to another origin drops them.
  public internal(set) var credentials: HeaderFields

  /// The urgency of the answer; ``HTTPSource`` sets it for each get.
  public internal(set) var priority: Priority

  /// Whether the body is passed on in parts, to a subscriber that may be slow.
  var isStreamed = false

  private var asking: Lookup?

  private let name: String?

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - url: The URL; `http` or `https`, with a host.
  ///   - headers: The fields to send in addition to the transport's own.
  ///   - credentials: The fields to send only to the origin of `url`.
  ///   - identity: A lasting name of the resource, if its URL does not last, for example because it
  ///     is signed for an hour; by default the URL.
  ///   - priority: The urgency of the answer.
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

  /// The name of the resource, under which the bytes of an interrupted transfer are found again.
  public var identity: String { name ?? url.absoluteString }
}

extension HTTPRequest {
  /// Calls `act` each time the answer becomes more urgent because another subscriber waits for it.
  ///
  ///     let raising = request.onRaise { call.priority = $0 }
  ///     lifetime.onEnd { raising?.dispose() }
  ///
  /// - Parameter act: Runs on the thread of that subscriber.
  /// - Returns: A handle that ends the calls; nil if the priority cannot change.
  public func onRaise(_ act: @escaping @Sendable (Priority) -> Void) -> Disposable? {
    asking?.onRaise(act)
  }

  var currentPriority: Priority { lookup.priority }

  /// The terms of the get that makes the request.
  var lookup: Lookup { asking ?? Lookup(priority: priority) }

  func asked(by lookup: Lookup) -> HTTPRequest {
    var request = onBehalf(of: lookup)
    // RFC 9111 §5.2.1.4: no cache on the way may answer by itself.
    if !lookup.freshness.admitsStored {
      request.headers.append("no-cache", for: "Cache-Control")
    }
    return request
  }

  /// Returns a copy for another lookup: that of a flight on behalf of its callers.
  func onBehalf(of lookup: Lookup) -> HTTPRequest {
    var request = self
    request.priority = lookup.priority
    request.asking = lookup
    return request
  }

  /// The request for whatever is stored, stale or not.
  var onlyIfCached: HTTPRequest {
    var request = self
    request.headers.append("only-if-cached, max-stale", for: "Cache-Control")
    return request
  }

  /// Returns a copy with these credentials, which replace fields of the same names.
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

extension HTTPRequest {
  /// The name under which the first bytes of the answer are stored: the resource, and every field
  /// that may select one of its representations.
  ///
  /// All fields count, since not every origin names in `Vary` the ones that it depends on. They are
  /// hashed, because the name is written to disk and a field may be secret.
  var representation: String {
    let fields = headers.fields.map { (name: $0.name.lowercased(), value: $0.value) }
      .filter { !Self.neutralFields.contains($0.name) }
    if fields.isEmpty { return identity }
    let lines = fields.enumerated()
      // Repeated fields keep their order.
      .sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
      .map { "\($0.element.name):\($0.element.value)\n" }
    var text = lines.joined()
    let sums = text.withUTF8 { bytes in
      (3...4).map { String(FoldHash.hash(UnsafeRawBufferPointer(bytes), seed: $0), radix: 16) }
    }
    return "\(identity) \(sums.joined(separator: "-"))"
  }

  /// Whether ranges of the answer may be requested: not if the request is for a range itself.
  var canBeResumed: Bool { headers["Range"] == nil }

  /// The fields that never select a representation.
  private static let neutralFields: Set<String> = ["cache-control", "pragma"]
}
