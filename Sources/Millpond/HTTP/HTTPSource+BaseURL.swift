public import Foundation
import MillpondCore
import MillpondSignals

extension HTTPSource where Key == String {
  /// Creates a source of one API, whose keys are paths below a URL.
  ///
  ///     let api = HTTPSource(
  ///       baseURL: URL(string: "https://api.example.com/v2")!, headers: ["Accept-Language": "de"])
  ///     let user = try await api.json(User.self).get("users/7").value
  ///
  /// A key is put behind the base, also one that begins with a slash or looks like a whole URL, so
  /// no key leads to another origin. It may have a query: `users?page=2`. What a URL can't contain
  /// is encoded; what is encoded already stays.
  ///
  /// - Parameters:
  ///   - baseURL: The URL above all keys; a query or fragment of it is left out.
  ///   - headers: The fields of every request. They go along with a redirect to another origin, so
  ///     they are no place for credentials.
  ///   - transport: The transport; by default a `URLSession` of this source's own.
  ///   - limits: The limits on the time and size of an answer.
  ///   - authorization: The credentials, sent only to the origins that they are for.
  ///   - partials: The store for incomplete bodies, so that interrupted transfers can be resumed.
  ///   - clock: The clock for the time limits.
  public init(
    baseURL: URL, headers: HeaderFields = [:],
    transport: any HTTPTransport = URLSessionTransport(), limits: HTTPLimits = .standard,
    authorization: HTTPAuthorization? = nil, resuming partials: PartialTransfers? = nil,
    clock: some Clock<Duration> = ContinuousClock()
  ) {
    self.init(
      transport: transport, limits: limits, authorization: authorization, resuming: partials,
      clock: clock,
      making: { path in
        guard let url = baseURL.below(path) else {
          return .fail(
            TransferError.invalidRequest(reason: "the key is no path of a URL", url: baseURL))
        }
        return .just(HTTPRequest(url: url, headers: headers))
      })
  }
}

extension URL {
  /// Returns the URL of a path below this one; nil if there is none.
  func below(_ path: String) -> URL? {
    guard var base = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
    (base.query, base.fragment) = (nil, nil)
    guard let whole = base.string else { return nil }
    let folder = whole.hasSuffix("/") ? whole : whole + "/"
    return URL(string: folder + path.drop { $0 == "/" })
  }
}
