import MillpondCore

/// The fields of a request that matter to a cache, parsed: everything that a decision needs.
struct ParsedRequest: Sendable {
  /// The method; upper and lower case differ.
  private(set) var method: String
  let headers: HeaderFields

  /// The fields that authenticate the caller, in one text, which is empty for none; see
  /// ``CallerFields``.
  private let secrets: String

  /// The authenticating fields of a named account; the text of the credentials has the name in
  /// their place, so that it survives a renewal.
  let accountFields: HeaderFields

  /// The key of the cache's hashes; empty for none.
  private(set) var hashKey: [UInt8] = []

  private(set) var directives = CacheDirectives()

  /// The age that the get admits, beside what the directives say.
  private(set) var freshness = Freshness.any

  /// The values of `If-None-Match`, `If-Modified-Since`, `Range` and `If-Range`.
  private(set) var noneMatch: [String] = []
  private(set) var modifiedSince: String?
  private(set) var range: String?
  private(set) var rangeCondition: String?

  /// Whether there is a condition that only the origin can evaluate.
  private(set) var hasOriginCondition = false

  init(
    method: String, headers: HeaderFields, credentials: HeaderFields = [:],
    account: HTTPRequest.Account? = nil
  ) {
    self.method = method
    self.headers = headers
    accountFields = account?.credentials ?? [:]
    var secrets = credentials.fields
    if let account {
      secrets.removeAll { account.credentials[$0.name] == $0.value }
      secrets.append((name: "account", value: account.name))
    }
    var pragmas: [String] = []
    var hasCacheControl = false
    for field in headers.fields {
      // The length of a name is compared first: most fields are of no interest.
      switch field.name.utf8.count {
      case 5 where field.name.isSameField(as: "Range"):
        // Several ranges in several fields are no range that can be answered.
        range = range == nil ? field.value : ""
      case 6 where field.name.isSameField(as: "Pragma"): pragmas.append(field.value)
      case 8 where field.name.isSameField(as: "If-Match"): hasOriginCondition = true
      case 8 where field.name.isSameField(as: "If-Range"):
        rangeCondition = rangeCondition == nil ? field.value : ""
      case 13 where field.name.isSameField(as: "Cache-Control"):
        hasCacheControl = true
        directives.add(field.value)
      case 13 where field.name.isSameField(as: "If-None-Match"): noneMatch.append(field.value)
      case 17 where field.name.isSameField(as: "If-Modified-Since"):
        modifiedSince = modifiedSince == nil ? field.value : ""
      case 19 where field.name.isSameField(as: "If-Unmodified-Since"): hasOriginCondition = true
      default: if CallerFields.authenticates(field.name) { secrets.append(field) }
      }
    }
    self.secrets = Self.text(of: secrets)
    // RFC 9111 §5.4: Pragma counts only where there is no Cache-Control.
    if !hasCacheControl, pragmas.contains(where: { CacheDirectives([$0]).has(.noCache) }) {
      directives.insert(.noCache)
    }
  }

  /// The same request as a GET.
  var asGet: ParsedRequest {
    var request = self
    request.method = "GET"
    return request
  }

  /// Whether the caller wants an answer that is not older than the request.
  var isReload: Bool {
    directives.has(.noCache) || directives.maxAge == .exactly(0)
      || !freshness.admits(age: .microseconds(1))
  }

  /// Whether a stored response to GET may be an answer.
  var isAnswerable: Bool { method == "GET" || method == "HEAD" }

  /// Whether the caller asks for an answer only if it has changed.
  var isConditional: Bool { !noneMatch.isEmpty || modifiedSince != nil }

  /// Returns a fingerprint of the fields that authenticate the caller.
  func credentials(_ salt: UInt64) -> Fingerprint {
    secrets.isEmpty ? .none : Fingerprint(hiding: Array(secrets.utf8), salt, hashKey)
  }

  /// Returns a fingerprint of all fields by which an origin may know the caller: the credentials,
  /// and every field that is not known to say something else.
  ///
  /// An answer with `private` is for one user, and the origin may know that user by a field of its
  /// own.
  func caller(_ salt: UInt64) -> Fingerprint {
    let telling = headers.fields.filter { CallerFields.mayTell($0.name) }
    if telling.isEmpty { return credentials(salt) }
    let text = "\(Self.text(of: telling))\n\n\(secrets)"
    return Fingerprint(hiding: Array(text.utf8), salt, hashKey)
  }

  private static func text(of secrets: [(name: String, value: String)]) -> String {
    secrets.map { "\($0.name.lowercased()):\($0.value)" }.sorted().joined(separator: "\n")
  }
}

extension ParsedRequest {
  init(_ request: HTTPRequest, _ hashKey: [UInt8] = []) {
    var headers = request.headers
    if let added = request.added { headers.append(added) }
    self.init(
      method: request.method.name, headers: headers, credentials: request.credentials,
      account: request.account)
    self.hashKey = hashKey
    if case .atMost = request.lookup.freshness { freshness = request.lookup.freshness }
  }
}

/// 128 bits that stand for a text; zero stands for none.
struct Fingerprint: Sendable, Hashable {
  let first: UInt64
  let second: UInt64

  static let none = Fingerprint(first: 0, second: 0)

  init(first: UInt64, second: UInt64) {
    self.first = first
    self.second = second
  }

  init(of text: String) {
    var text = text
    self = text.withUTF8 { Fingerprint(of: UnsafeRawBufferPointer($0)) }
  }

  init(of bytes: UnsafeRawBufferPointer) {
    first = FoldHash.hash(bytes, seed: 5)
    second = FoldHash.hash(bytes, seed: 6)
  }

  /// Creates the bits that are written to disk in place of a secret.
  ///
  /// - Parameters:
  ///   - secret: The bytes of the secret.
  ///   - salt: A random number that is written beside the bits, so that those of one secret have
  ///     nothing in common.
  ///   - key: A key that is not written; with an empty one, a guess of the secret can be checked.
  init(hiding secret: [UInt8], _ salt: UInt64, _ key: [UInt8]) {
    let message = withUnsafeBytes(of: salt.littleEndian, Array.init) + secret
    let words = key.isEmpty ? SHA256.hash(message) : SHA256.hash(message, key: key)
    first = UInt64(words[0]) << 32 | UInt64(words[1])
    second = UInt64(words[2]) << 32 | UInt64(words[3])
  }

  /// The bits as digits, in a key or the name of a file.
  var text: String { "\(String(first, radix: 16))-\(String(second, radix: 16))" }
}
