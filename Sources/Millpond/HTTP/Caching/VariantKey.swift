import Foundation

/// The fields of a request that select one of several stored responses of a URL: those named by the
/// response's `Vary`, and the credentials; of a response with `private`, all fields by which an
/// origin may know the caller.
///
/// The values are hashed with a salt, because the key is written to disk and a field may be secret.
///
/// - Source: RFC 9111 §4.1, §3.5.
struct VariantKey: Sendable, Equatable {
  /// The names in lower case, sorted; each once.
  let names: [String]

  /// The salt of both hashes.
  let salt: UInt64
  let selecting: Fingerprint
  let credentials: Fingerprint

  init(names: [String], salt: UInt64, selecting: Fingerprint, credentials: Fingerprint) {
    self.names = names
    self.salt = salt
    self.selecting = selecting
    self.credentials = credentials
  }

  /// Returns the key of a response to `request`; nil if nothing can match it: its `Vary` is "*" or
  /// can't be read.
  init?(
    of response: HeaderFields, to request: ParsedRequest,
    salt: UInt64 = .random(in: 0 ... .max)
  ) {
    guard let names = response.varyingNames else { return nil }
    let isPrivate = CacheDirectives(response.values(of: "Cache-Control")).has(.isPrivate)
    self.init(
      names: names, salt: salt, selecting: request.fingerprint(of: names, salt),
      credentials: isPrivate ? request.caller(salt) : request.credentials(salt))
  }

  /// Whether the fields of `request` select the response.
  func isSelected(by request: ParsedRequest) -> Bool {
    names.isEmpty || request.fingerprint(of: names, salt) == selecting
  }
}

extension ParsedRequest {
  /// Returns a fingerprint of the values of these fields; equal for values that mean the same.
  fileprivate func fingerprint(of names: [String], _ salt: UInt64) -> Fingerprint {
    if names.isEmpty { return .none }
    var text: [UInt8] = []
    text.reserveCapacity(128)
    for name in names {
      text += name.utf8
      var values = headers.values(of: name)
      // A field that stands for an account among the credentials may still select by its value.
      if !accountFields.fields.isEmpty { values += accountFields.values(of: name) }
      // A line end separates, since it can be part of neither a name nor a value.
      if !values.isEmpty { text.append(UInt8(ascii: ":")) }
      if values.count == 1, values[0].utf8.allSatisfy(\.isPlain) {
        text += values[0].utf8
      } else {
        text += Self.normalized(values).utf8
      }
      text.append(UInt8(ascii: "\n"))
    }
    return Fingerprint(hiding: text, salt, hashKey)
  }

  /// Several fields mean the same as one list, and spaces around its commas mean nothing.
  private static func normalized(_ values: [String]) -> String {
    let values = values.map { value in
      String(decoding: value.utf8.map { $0 == 0x0A ? 0x0D : $0 }, as: UTF8.self)
    }
    return values.flatMap { $0.listMembers() }.joined(separator: ",")
  }
}

extension UInt8 {
  /// Whether a value with only such bytes is in its normal form.
  fileprivate var isPlain: Bool { self > 0x20 && self != UInt8(ascii: ",") }
}

extension HeaderFields {
  /// The names in all `Vary` fields, in lower case and sorted; nil if one of them is "*" or no
  /// name.
  fileprivate var varyingNames: [String]? {
    let values = values(of: "Vary")
    if values.isEmpty { return [] }
    var names: Set<String> = []
    for name in values.flatMap({ $0.listMembers() }) {
      guard name != "*", name.utf8.allSatisfy(\.isTokenByte) else { return nil }
      names.insert(name.lowercased())
    }
    return names.sorted()
  }
}
