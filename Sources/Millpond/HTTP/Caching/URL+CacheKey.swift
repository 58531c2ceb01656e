import Foundation

extension URL {
  /// The name of the resource in a store: equal for addresses that mean the same.
  ///
  /// - Source: RFC 9110 §4.2.3.
  var cacheKey: String {
    let text = absoluteString
    if text.isUsualAddress { return text }
    guard var parts = URLComponents(string: text) else { return text }
    parts.scheme = parts.scheme?.lowercased()
    parts.host = parts.host?.lowercased()
    parts.fragment = nil
    if parts.port == (parts.scheme == "https" ? 443 : 80) { parts.port = nil }
    if parts.path.isEmpty { parts.path = "/" }
    return parts.string ?? text
  }
}

extension String {
  /// Whether this is an address whose name in a store is itself.
  ///
  /// It is in lower case up to its path, with neither port nor user, and without a fragment. Most
  /// are, and taking others apart is slow.
  fileprivate var isUsualAddress: Bool {
    var text = self
    return text.withUTF8 { bytes in
      let start = bytes.starts(with: "https://") ? 8 : bytes.starts(with: "http://") ? 7 : 0
      if start == 0 { return false }
      var path = start
      while path < bytes.count, bytes[path].isPartOfUsualHost { path += 1 }
      guard path < bytes.count, bytes[path] == UInt8(ascii: "/") else { return false }
      return !bytes[path...].contains(UInt8(ascii: "#"))
    }
  }
}

extension UInt8 {
  fileprivate var isPartOfUsualHost: Bool {
    (0x61...0x7A).contains(self) || (0x30...0x39).contains(self) || self == UInt8(ascii: ".")
      || self == UInt8(ascii: "-")
  }
}

extension UnsafeBufferPointer<UInt8> {
  fileprivate func starts(with text: StaticString) -> Bool {
    count >= text.utf8CodeUnitCount
      && (0..<text.utf8CodeUnitCount).allSatisfy { self[$0] == text.utf8Start[$0] }
  }
}
