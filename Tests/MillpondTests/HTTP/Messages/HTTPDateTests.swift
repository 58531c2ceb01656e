import MillpondTesting
import Testing

@testable import Millpond

@Suite struct HTTPDateTests {
  @Test(
    arguments: [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994",
    ])
  func `all three forms name the same moment`(text: String) {
    #expect(HTTPDate(text)?.seconds == 784_111_777)
  }

  @Test(
    arguments: [
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
      ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Thu, 31 Dec 2099 23:59:60 GMT", 4_102_444_800),
    ])
  func `leap days, leap seconds and what was before 1970 are known`(text: String, seconds: Int) {
    #expect(HTTPDate(text)?.seconds == seconds)
  }

  @Test(
    arguments: [
      "", "0", "-1", "yesterday", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
      "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 19940000000000000000 08:49:37 GMT",
      "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 0６ Nov 1994 08:49:37 GMT", "a b c d e f",
      "Sun, 99999999999999999999 Nov 1994 08:49:37 GMT", ",,,,,,", "- - - - - -",
      String(repeating: "9 ", count: 40_000),
    ])
  func `garbage is no date`(text: String) {
    #expect(HTTPDate(text) == nil)
  }

  @Test func `no combination of a date's characters traps`() {
    var random = SeededGenerator(seed: 7)
    let characters = Array("SunNov0123456789:,- GMT")
    for _ in 0..<20_000 {
      let length = Int.random(in: 0...40, using: &random)
      let text = String((0..<length).map { _ in characters.randomElement(using: &random) ?? " " })
      _ = HTTPDate(text)
    }
  }
}
