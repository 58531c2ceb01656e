import Testing

@testable import Millpond

@Suite struct ContentRangeTests {
  @Test(arguments: ["bytes 1-2/3", "Bytes 1-2/3", "BYTES 1-2/3"])
  func `the unit of a Content-Range may be in any case`(value: String) {
    let range = ContentRange(["content-range": value])

    #expect(range?.first == 1)
    #expect(range?.last == 2)
    #expect(range?.total == 3)
  }

  @Test(arguments: [
    "", "bytes", "byte 1-2/3", "bytes=1-2/3", "bytes 2-1/3", "bytes 1-3/3", "bytes */3",
  ])
  func `other values are no range of bytes`(value: String) {
    #expect(ContentRange(["Content-Range": value]) == nil)
  }
}
