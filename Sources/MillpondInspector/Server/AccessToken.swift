/// The secret in the address of the page.
struct AccessToken: Sendable {
  /// 128 random bits in hexadecimal digits.
  let text: String

  private let bytes: [UInt8]

  /// Creates a token from the system's generator, which is meant for secrets.
  init() {
    var generator = SystemRandomNumberGenerator()
    self.init((0..<4).map { _ in UInt32.random(in: 0...UInt32.max, using: &generator) })
  }

  init(_ words: [UInt32]) {
    text = words.map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 8 - digits.count) + digits
    }.joined()
    bytes = Array(text.utf8)
  }

  /// Returns the rest of a path `/token/rest`; nil for another token.
  ///
  /// The time that it takes tells nothing about the token.
  func rest(of path: String) -> String? {
    let path = Array(path.utf8)
    var difference: UInt8 = path.count > bytes.count + 1 ? 0 : 1
    for (index, byte) in ([UInt8(ascii: "/")] + bytes + [UInt8(ascii: "/")]).enumerated() {
      difference |= byte ^ (index < path.count ? path[index] : 0)
    }
    return difference == 0 ? String(decoding: path.dropFirst(bytes.count + 2), as: UTF8.self) : nil
  }
}
