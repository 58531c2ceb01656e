import Testing

@testable import MillpondInspector

@Suite struct AccessTokenTests {
  let token = AccessToken([0, 1, 0xffff_ffff, 0xabc])
  let text = "0000000000000001ffffffff00000abc"

  @Test func `it is 128 bits in digits, with leading zeros`() {
    #expect(token.text == text)
    #expect(AccessToken().text.utf8.count == 32)
    #expect(AccessToken().text != AccessToken().text)
  }

  @Test func `the rest of a path is returned only for the right token`() {
    #expect(token.rest(of: "/\(text)/") == "")
    #expect(token.rest(of: "/\(text)/events") == "events")
  }

  @Test(arguments: [
    "", "/", "/0000000000000001ffffffff00000abc", "/0000000000000001ffffffff00000abd/",
    "/0000000000000001ffffffff00000abcd/", "/1000000000000001ffffffff00000abc/", "//events",
    "x0000000000000001ffffffff00000abc/", "/0000000000000001FFFFFFFF00000ABC/",
    "/\u{0}000000000000001ffffffff00000abc/",
  ])
  func `no other path has a rest`(path: String) {
    #expect(token.rest(of: path) == nil)
  }
}
