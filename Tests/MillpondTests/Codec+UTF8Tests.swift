import Foundation
import Millpond
import Testing

@Suite struct CodecUTF8Tests {
  let cache = MemoryCache<String, Data>(countLimit: 10)

  @Test(arguments: ["", "a", "é", "e\u{301}", "\u{0}", "👩‍👩‍👧"])
  func `text is kept as its bytes`(text: String) async throws {
    let texts = cache.mapValues(.utf8)

    try await texts.set(text, for: "a").value

    #expect(try await cache.get("a").value == Data(text.utf8))
    #expect(try await Array(texts.get("a").value.unicodeScalars) == Array(text.unicodeScalars))
  }

  @Test(arguments: [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]])
  func `bytes that are no text are a miss`(bytes: [UInt8]) async throws {
    try await cache.set(Data(bytes), for: "a").value

    #expect(try await cache.mapValues(.utf8).get("a").valueIfAny == nil)
  }
}
