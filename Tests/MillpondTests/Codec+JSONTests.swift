import Foundation
import Millpond
import Testing

@Suite struct CodecJSONTests {
  struct User: Codable, Sendable, Equatable {
    let firstName: String
    let born: Date?
  }

  let cache = MemoryCache<String, Data>(countLimit: 10)
  let user = User(firstName: "a", born: Date(timeIntervalSince1970: 86_400))

  @Test func `a set value is read back`() async throws {
    let users = cache.mapValues(.json(User.self))

    try await users.set(user, for: "a").value

    #expect(try await users.get("a").value == user)
  }

  @Test func `the type may be known otherwise`() async throws {
    let users: MappedValues<MemoryCache<String, Data>, [User]> = cache.mapValues(.json())

    try await users.set([user], for: "a").value

    #expect(try await users.get("a").value == [user])
  }

  @Test func `a lone text or number is JSON`() async throws {
    let texts = cache.mapValues(.json(String.self))

    try await texts.set("a", for: "a").value

    #expect(try await cache.get("a").value == Data("\"a\"".utf8))
  }

  @Test func `encoder and decoder are the user's`() async throws {
    let users = cache.mapValues(
      .json(
        User.self,
        encoder: {
          let encoder = JSONEncoder()
          encoder.keyEncodingStrategy = .convertToSnakeCase
          encoder.dateEncodingStrategy = .iso8601
          encoder.outputFormatting = .sortedKeys
          return encoder
        },
        decoder: {
          let decoder = JSONDecoder()
          decoder.keyDecodingStrategy = .convertFromSnakeCase
          decoder.dateDecodingStrategy = .iso8601
          return decoder
        }))

    try await users.set(user, for: "a").value

    let kept = try await cache.get("a").value
    #expect(kept == Data(#"{"born":"1970-01-02T00:00:00Z","first_name":"a"}"#.utf8))
    #expect(try await users.get("a").value == user)
  }

  @Test(arguments: ["", "{", "{}", "[]", "{\"firstName\":1}", "\u{0}"])
  func `bytes of another form are a miss`(kept: String) async throws {
    try await cache.set(Data(kept.utf8), for: "a").value

    #expect(try await cache.mapValues(.json(User.self)).get("a").valueIfAny == nil)
  }

  @Test func `a set of a value that can't be encoded fails, and the stored one stays`() async throws
  {
    let numbers = cache.mapValues(.json(Double.self))
    try await numbers.set(1, for: "a").value

    await #expect(throws: EncodingError.self) { try await numbers.set(.nan, for: "a").value }

    #expect(try await numbers.get("a").value == 1)
  }

  @Test func `many threads may use one codec`() async throws {
    let users = cache.mapValues(.json(User.self))
    let user = user

    try await withThrowingTaskGroup { group in
      for number in 0..<100 {
        group.addTask {
          try await users.set(user, for: "\(number % 10)").value
          return try await users.get("\(number % 10)").value
        }
      }
      for try await answer in group { #expect(answer == user) }
    }
  }
}
