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
}
