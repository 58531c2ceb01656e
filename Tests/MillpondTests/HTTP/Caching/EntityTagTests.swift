import Testing

@testable import Millpond

@Suite struct EntityTagTests {
  @Test(arguments: [
    ("\"1\"", "\"1\"", true), ("W/\"1\"", "\"1\"", false), ("W/\"1\"", "W/\"1\"", false),
    ("\"1\"", "\"2\"", false), ("\"\u{E9}\"", "\"\u{E9}\"", true),
    ("\"\u{E9}\"", "\"e\u{301}\"", false),
  ])
  func `strong tags are equal if their bytes are`(
    one: String, other: String, areEqual: Bool
  ) throws {
    let (one, other) = (try #require(EntityTag(one)), try #require(EntityTag(other)))

    #expect(one.isStronglyEqual(to: other) == areEqual)
    #expect(other.isStronglyEqual(to: one) == areEqual)
  }

  @Test func `tags are the same only if their bytes are`() {
    #expect(EntityTag("\"\u{E9}\"") == EntityTag("\"\u{E9}\""))
    #expect(EntityTag("\"\u{E9}\"") != EntityTag("\"e\u{301}\""))
  }

  @Test func `several tags of one response that differ in their bytes are none`() {
    #expect(EntityTag(of: HeaderFields([("ETag", "\"1\""), ("ETag", "\"1\"")]))?.text == "\"1\"")
    #expect(EntityTag(of: HeaderFields([("ETag", "\"\u{E9}\""), ("ETag", "\"e\u{301}\"")])) == nil)
  }
}
