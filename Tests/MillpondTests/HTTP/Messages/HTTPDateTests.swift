import MillpondTesting
import Testing

@testable import Millpond

@Suite struct HTTPDateTests {
  @Test(
    arguments: [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994", "sun, 06 nov 1994 08:49:37 gmt", "SUNDAY, 06-NOV-94 08:49:37 GMT",
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
      // Neither of the three forms: a year of two digits, no comma, spaces, dashes, one digit.
      "Thu, 18 Aug 50 02:01:18 GMT", "Thu 18 Aug 2050 02:01:18 GMT",
      "Thu, 18  Aug  2050 02:01:18 GMT", "Thu, 18-Aug-2050 02:01:18 GMT",
      "Thu, 18 Aug 2050 2:01:18 GMT", "Thu, 8 Aug 2050 02:01:18 GMT",
      "Thu, 18 Aug 2050 02.01.18 GMT", "x y Aug 2050 02:01:18 GMT",
      "18-Aug-2050,02:01:18,x,y GMT", "Xyz, 18 Aug 2050 02:01:18 GMT",
      "Thu, 18 Aug 2050 02:01:18", "Thu, 18 Aug 2050 02:01:18 UTC",
      "Thu, 18 Aug 2050 02:01:18 GMT ", "Thursday, 18-Aug-2050 02:01:18 GMT",
      "Thu, 18-Aug-50 02:01:18 GMT", "Thu Aug 8 02:01:18 2050", "Thu Aug  18 02:01:18 2050",
      "Thu Aug 18 02:01:18 2050 GMT",
      // Days that do not exist.
      "Thu, 31 Feb 2050 02:01:18 GMT", "Tue, 29 Feb 2050 02:01:18 GMT",
      "Thu, 31 Apr 2050 02:01:18 GMT", "Thu, 00 Aug 2050 02:01:18 GMT",
    ])
  func `garbage is no date`(text: String) {
    #expect(HTTPDate(text) == nil)
  }

  @Test(arguments: [(94, 1994), (76, 2076), (77, 1977), (0, 2000)])
  func `a year of two digits is at most 50 years ahead`(digits: Int, year: Int) {
    let digits = digits < 10 ? "0\(digits)" : "\(digits)"
    let now = WallTime(microseconds: 1_767_225_600_000_000)

    let short = HTTPDate("Sunday, 06-Nov-\(digits) 08:49:37 GMT", now: now)

    #expect(short != nil)
    #expect(short == HTTPDate("Sun, 06 Nov \(year) 08:49:37 GMT"))
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
