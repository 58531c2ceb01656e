import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(3))) final class PersistenceDiskTests {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-persistence-\(UUID().uuidString)")

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  private func map<Value: Codable & Sendable>(
    _ name: String = "users", of type: Value.Type = String.self
  ) -> MultiplexerMap<String, Value> {
    MultiplexerMap(over: Unreachable(), persistence: .disk(name, in: folder))
  }

  @Test func `a persisted value is there after a start, also a nil`() async throws {
    do {
      let first = map(of: String?.self)
      first.set("Ada", for: "a")
      first.set(nil, for: "b")
      try await first.flush().value
    }
    let second = map(of: String?.self)

    #expect(try await second.get("a").value == "Ada")
    #expect(try await second.get("b").value == nil)
    #expect(try await second.get("a", freshness: .cachedOnly).valueIfAny != nil)
  }

  @Test func `a flush to a disk that cannot be written fails, and nothing is lost`()
    async throws
  {
    try Data("a file, no folder".utf8).write(to: folder)
    let users = map()
    users.set("Ada", for: "a")

    await #expect(throws: CacheError.self) { try await users.flush().value }

    #expect(users.current("a") == "Ada")
  }

  @Test func `a stored value is a miss after its model has changed`() async throws {
    do {
      let old = map(of: [String].self)
      old.set(["Ada"], for: "a")
      try await old.flush().value
    }
    let new = map(of: [String: Int].self)

    await #expect(throws: UnreachableFailure.self) { try await new.get("a").value }
    new.set(["Ada": 36], for: "a")
    try await new.flush().value
    #expect(new.current("a") == ["Ada": 36])
  }

  @Test func `a damaged file is a miss`() async throws {
    do {
      let first = map()
      first.set("Ada", for: "a")
      try await first.flush().value
    }
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    // The first map may still be closing: a file that it renames meanwhile is left alone.
    for case let file as URL in try #require(files) where !file.hasDirectoryPath {
      guard let size = try? Data(contentsOf: file).count else { continue }
      try Data(repeating: 0xA5, count: size).write(to: file)
    }
    let second = map()

    await #expect(throws: UnreachableFailure.self) { try await second.get("a").value }
    second.set("Grace", for: "a")
    try await second.flush().value
  }

  @Test(arguments: ["", "/", "..", "a/b", "\0", "Ä 🌊", "CON", "a", "A", "%", "%61"])
  func `a name of any kind is a folder of its own, inside`(name: String) async throws {
    let users = map(name)
    users.set(name, for: name)
    try await users.flush().value

    let folders = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(folders == [FolderName.encoded(name)])
  }

  @Test func `different names are different folders, also long ones, and without regard to case`() {
    let long = String(repeating: "x", count: 100_000)
    let names = ["", "a", "A", "%61", "..", ".", "/", long, long + "y", long + "z"]

    let folders = names.map { FolderName.encoded($0).lowercased() }

    #expect(Set(folders).count == names.count)
    #expect(folders.allSatisfy { $0.utf8.count <= 255 && !$0.contains("/") && !$0.hasPrefix(".") })
  }

  @Test(arguments: ["/", "\0", "", String(repeating: "k", count: 100_000)])
  func `an odd key is a key`(key: String) async throws {
    do {
      let first = map()
      first.set("odd", for: key)
      try await first.flush().value
    }

    #expect(try await map().get(key).value == "odd")
  }

  @Test func `keys that are no texts are distinguished by the texts that are made of them`()
    async throws
  {
    let persistence = Persistence<URL, Int>.disk("urls", in: folder) { $0.absoluteString }
    let (one, other) = (URL(fileURLWithPath: "/1"), URL(fileURLWithPath: "/2"))
    let urls = MultiplexerMap(over: UnreachableURLs(), persistence: persistence)
    urls.set(1, for: one)
    urls.set(2, for: other)
    try await urls.flush().value

    let again = MultiplexerMap(over: UnreachableURLs(), persistence: persistence)
    #expect(try await again.get(one).value == 1)
    #expect(try await again.get(other).value == 2)
  }

  @Test func `equal keys of different texts have one value after a restart`() async throws {
    do {
      let texts = map()
      texts.set("old", for: "caf\u{E9}")
      texts.set("new", for: "cafe\u{301}")
      try await texts.flush().value
    }
    #expect(try await map().get("caf\u{E9}").value == "new")
    #expect(FolderName.encoded("caf\u{E9}") == FolderName.encoded("cafe\u{301}"))

    let persistence = { [folder] in Persistence<Double, Int>.disk("numbers", in: folder) }
    do {
      let numbers = MultiplexerMap(over: UnreachableNumbers(), persistence: persistence())
      numbers.set(1, for: 0.0)
      numbers.set(2, for: -1.5)
      try await numbers.flush().value
      try await numbers.remove(-0.0).value
      try await numbers.flush().value
    }
    let again = MultiplexerMap(over: UnreachableNumbers(), persistence: persistence())
    await #expect(throws: UnreachableFailure.self) { try await again.get(0.0).value }
    #expect(try await again.get(-1.5).value == 2)
  }

  @Test func `a key whose text belongs to another key is refused, and the other's value stays`()
    async throws
  {
    let persistence = Persistence<URL, Int>.disk(
      "urls", in: folder, key: { $0.absoluteString }, inverse: { URL(string: $0) })
    let whole = try #require(URL(string: "https://example.com/a"))
    let relative = try #require(URL(string: "a", relativeTo: URL(string: "https://example.com/")))
    let urls = MultiplexerMap(over: UnreachableURLs(), persistence: persistence)
    urls.set(1, for: whole)
    try await urls.flush().value

    urls.set(2, for: relative)
    await #expect(throws: (any Error).self) { try await urls.flush().value }

    let again = MultiplexerMap(over: UnreachableURLs(), persistence: persistence)
    #expect(try await again.get(whole).value == 1)
  }

  @Test func `which errors are losses of connectivity`() {
    let lost: [URLError.Code] = [
      .notConnectedToInternet, .networkConnectionLost, .cannotConnectToHost, .cannotFindHost,
      .dnsLookupFailed, .timedOut,
    ]
    #expect(lost.allSatisfy { URLError($0).isConnectivityError })
    #expect(!URLError(.badServerResponse).isConnectivityError)
    #expect(!URLError(.cancelled).isConnectivityError && URLError(.cancelled).isCancelled)
    #expect(!URLError(.timedOut).isCancelled)
    #expect(TransferError.timedOut(.idle).isConnectivityError)
    #expect(TransferError.truncated(received: 1, expected: 2).isConnectivityError)
    #expect(!TransferError.tooLarge(limit: 1).isConnectivityError)
    #expect(!CacheError.miss.isConnectivityError)
  }
}

private struct Unreachable<Value: Sendable>: Source {
  func get(_ key: String, _ lookup: Lookup) -> Signal<Value> {
    .fail(UnreachableFailure())
  }
}

private struct UnreachableFailure: Error {}

private struct UnreachableNumbers: Source {
  func get(_ key: Double, _ lookup: Lookup) -> Signal<Int> {
    .fail(UnreachableFailure())
  }
}

private struct UnreachableURLs: Source {
  func get(_ key: URL, _ lookup: Lookup) -> Signal<Int> {
    .fail(UnreachableFailure())
  }
}
