import MillpondCore
import Testing

@Suite struct ValidatorTests {
  @Test func `tags that are equal texts of different bytes are different validators`() {
    let (one, other) = (Validator(entityTag: "\"\u{E9}\""), Validator(entityTag: "\"e\u{301}\""))

    #expect(one != other)
    #expect(one == Validator(entityTag: "\"\u{E9}\""))
    #expect(one != Validator(entityTag: "\"\u{E9}\"", lastModified: "now"))
    #expect(one != Validator())
  }
}
