import Millpond
import Testing

@Suite struct HeaderFieldsTests {
  let headers: HeaderFields = ["A": "1", "b": "2", "a": "3"]

  @Test func `names compare without regard to case`() {
    #expect(headers["B"] == "2")
    #expect(headers["c"] == nil)
  }

  @Test func `the first of several values is the value`() {
    #expect(headers["a"] == "1")
    #expect(headers.values(of: "A") == ["1", "3"])
  }

  @Test func `fields keep their order`() {
    #expect(headers.fields.map(\.name) == ["A", "b", "a"])
  }
}
