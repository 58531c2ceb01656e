import Foundation
import Millpond
import Testing

@Suite struct CodecPropertyListTests {
  let cache = MemoryCache<String, Data>(countLimit: 10)

  @Test func `a set value is read back, in the binary form`() async throws {
    let lists = cache.mapValues(.propertyList([String: Data].self))

    try await lists.set(["a": Data([0, 255])], for: "a").value

    #expect(try await lists.get("a").value == ["a": Data([0, 255])])
    #expect(try await cache.get("a").value.starts(with: Data("bplist".utf8)))
  }

  @Test func `the type may be known otherwise`() async throws {
    let lists: MappedValues<MemoryCache<String, Data>, [Int]> = cache.mapValues(.propertyList())

    try await lists.set([1], for: "a").value

    #expect(try await lists.get("a").value == [1])
  }

  @Test func `a lone number fails to be set`() async throws {
    let numbers = cache.mapValues(.propertyList(Int.self))

    await #expect(throws: (any Error).self) { try await numbers.set(1, for: "a").value }
  }

  @Test(arguments: ["", "bplist00", "<plist>", "garbage"])
  func `bytes of another form are a miss`(kept: String) async throws {
    try await cache.set(Data(kept.utf8), for: "a").value

    #expect(try await cache.mapValues(.propertyList([Int].self)).get("a").valueIfAny == nil)
  }
}
