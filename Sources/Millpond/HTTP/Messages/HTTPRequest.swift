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
  public var identity: String { name ?? url.absoluteString }
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

  var currentPriority: Priority { lookup.priority }

  /// The terms of the get that asks.
  var lookup: Lookup { asking ?? Lookup(priority: priority) }

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

extension HTTPRequest {
  /// The name under which the first bytes of the answer are kept: the resource, and every field that
  /// may choose among its representations.
  ///
  /// All fields count, since not every origin names in `Vary` what its answer depends on. They are
  /// hashed, because the name is written to disk, and a field may be secret.
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

  /// Whether ranges of the answer may be asked for: not if the request asks for one of its own.
  var canBeResumed: Bool { headers["Range"] == nil }

  /// Fields that choose no representation.
  private static let neutralFields: Set<String> = ["cache-control", "pragma"]
}
