import Foundation
import MillpondCore
import Testing

@testable import Millpond

@Suite struct PartialRecordTests {
  private let data = PartialRecord(
    identity: "http://a/b",
    PartialBody(
      bytes: Data(0..<100),
      version: ResourceVersion(
        condition: "\"1\"",
        validator: Validator(entityTag: "\"1\"", lastModified: "x")))
  ).data

  @Test func `a record is read as it was written`() throws {
    let record = try #require(PartialRecord(data))

    #expect(record.identity == "http://a/b")
    #expect(record.partial.bytes == Data(0..<100))
    #expect(record.partial.version.condition == "\"1\"")
    #expect(record.partial.version.validator == Validator(entityTag: "\"1\"", lastModified: "x"))
  }

  @Test func `with any other length it is rejected`() {
    for length in 0..<data.count { #expect(PartialRecord(data.prefix(length)) == nil) }
    #expect(PartialRecord(data + [0]) == nil)
  }

  @Test func `with any bit flipped it is rejected`() {
    for index in data.indices {
      for bit in 0..<8 {
        var damaged = data
        damaged[index] ^= 1 << bit
        #expect(PartialRecord(damaged) == nil)
      }
    }
  }
}
