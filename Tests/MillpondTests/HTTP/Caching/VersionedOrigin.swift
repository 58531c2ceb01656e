import Foundation
import MillpondSignals

@testable import Millpond

/// An origin of resources that change, which knows conditions and ranges, and breaks off when it is
/// told to.
///
/// It compares tags and the values of fields by their bytes. Two versions in a row have tags that
/// are equal texts of different bytes.
final class VersionedOrigin: HTTPTransport {
  struct State: Sendable {
    var random: SeededNumbers

    /// The version of each resource, the times of its versions, and their sizes.
    var times: [String: [Int]] = [:]
    var sizes: [String: [Int]] = [:]
    var breaksOff = false
    var count = 0

    mutating func change(_ path: String, at time: Int) {
      times[path, default: []].append(time)
      sizes[path, default: []].append(random.size(upTo: 1 << 23))
    }
  }

  let state: Locked<State>

  init(seed: Int) { state = Locked(State(random: SeededNumbers(seed))) }

  /// The values of the selecting field: none, and two that are equal texts.
  static let variants: [String?] = [nil, "caf\u{E9}", "cafe\u{301}"]

  static func tag(of version: Int, _ variant: Int) -> String {
    "\"" + (version.isMultiple(of: 2) ? "\u{E9}" : "e\u{301}") + "\(version / 2) \(variant)\""
  }

  /// Returns a body; its bytes repeat after a prime number, so that no piece fits in another place.
  static func body(_ path: String, _ variant: Int, _ version: Int, size: Int) -> Data {
    let start = (path.utf8.count * 31 + variant * 1_009 + version * 7_919) % period
    return noise[start..<start + size]
  }

  private static let period = 65_521
  private static let noise: Data = {
    var random = SeededNumbers(7)
    let block = Data((0..<period).map { _ in UInt8(truncatingIfNeeded: random.next(256)) })
    var noise = Data()
    while noise.count < 1 << 23 + period { noise.append(block) }
    return noise
  }()

  func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    .deferred {
      let path = request.url.path(percentEncoded: true)
      let variant = Self.variants.firstIndex { Self.isSame($0, request.headers["X"]) } ?? 0
      let (parts, isBroken) = self.state.withLock { state in
        state.count += 1
        return state.answer(to: request, path, variant)
      }
      return Signal.from(parts)
        .concat(isBroken ? .fail(URLError(.networkConnectionLost)) : .empty)
    }
  }

  /// Whether two texts have the same bytes.
  static func isSame(_ one: String?, _ other: String?) -> Bool {
    one.map { Array($0.utf8) } == other.map { Array($0.utf8) }
  }
}

extension VersionedOrigin.State {
  fileprivate mutating func answer(
    to request: HTTPRequest, _ path: String, _ variant: Int
  ) -> (parts: [HTTPPart], isBroken: Bool) {
    let version = (times[path]?.count ?? 1) - 1
    let tag = VersionedOrigin.tag(of: version, variant)
    let body = VersionedOrigin.body(path, variant, version, size: sizes[path]?.last ?? 0)
    var fields: HeaderFields = ["ETag": tag, "Cache-Control": "max-age=60", "Vary": "X"]
    if request.headers.values(of: "If-None-Match").contains(where: { $0.utf8Lists(tag) }) {
      return ([.head(HTTPHead(status: 304, headers: fields))], false)
    }
    let condition = request.headers["If-Range"]
    var (status, bytes) = (200, body)
    if let range = request.headers["Range"],
      condition == nil || VersionedOrigin.isSame(condition, tag)
    {
      let bounds = range.dropFirst("bytes=".count)
        .split(separator: "-", omittingEmptySubsequences: false)
      let first = Int(bounds[0]) ?? 0
      let last = min(Int(bounds[1]) ?? .max, body.count - 1)
      if first >= body.count {
        fields.set("bytes */\(body.count)", for: "Content-Range")
        return ([.head(HTTPHead(status: 416, headers: fields))], false)
      }
      fields.set("bytes \(first)-\(last)/\(body.count)", for: "Content-Range")
      (status, bytes) = (206, body[body.startIndex + first...body.startIndex + last])
    }
    fields.set("\(bytes.count)", for: "Content-Length")
    var parts: [HTTPPart] = [.head(HTTPHead(status: status, headers: fields))]
    let isBroken = exchange(&breaksOff, with: false) && !bytes.isEmpty
    if isBroken { bytes = bytes.prefix(random.next(bytes.count)) }
    while !bytes.isEmpty {
      // Not too many: there may be millions of bytes.
      let piece = bytes.prefix(max(1 + random.size(upTo: 1 << 23), bytes.count >> 6))
      parts.append(.body(piece))
      bytes = bytes.dropFirst(piece.count)
    }
    return (parts, isBroken)
  }
}

extension String {
  /// Whether a list has this member, by its bytes.
  fileprivate func utf8Lists(_ member: String) -> Bool {
    split(separator: ",").contains { part in
      VersionedOrigin.isSame(String(part.drop { $0 == " " }), member)
    }
  }
}
