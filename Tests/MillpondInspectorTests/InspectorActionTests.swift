import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import MillpondInspector

@Suite struct InspectorActionTests {
  let server = InspectorTests()
  let memory = MemoryCache<String, Int>(countLimit: 100)
  let lower = TestCache<String, Int>()

  func remove(_ key: String, of inspector: Inspector) throws -> String {
    try server.reply(of: inspector, "POST", "remove", body: "{\"key\":\"\(key)\"}")
  }

  @Test func `nothing is changed without permission`() throws {
    let inspector = try server.inspector(memory)
    memory.set(1, for: "a")

    #expect(try remove("a", of: inspector).hasPrefix("HTTP/1.1 403 "))
    let trim = "{\"part\":\"0\",\"share\":0}"
    #expect(
      try server.reply(of: inspector, "POST", "trim", body: trim).hasPrefix("HTTP/1.1 403 "))

    #expect(memory.count == 1)
  }

  @Test func `a key is removed from all layers`() throws {
    let cache = memory.layered(over: lower)
    cache.set(1, for: "a")
    cache.set(2, for: "b")
    let inspector = try server.inspector(cache, allowing: [.removing])

    #expect(try remove("a", of: inspector).contains("\"isDone\":true"))

    #expect(cache.now("a", Lookup()) == nil)
    #expect(memory.peek("b") == 2)
    #expect(try remove("not there", of: inspector).contains("\"isDone\":true"))
  }

  @Test func `a key on the page is removed, also where keys cannot be mapped back`() throws {
    let mapped = memory.layered(over: lower.mapKeys { "disk/\($0)" })
    let cache = mapped.monitored(by: CacheMonitor(active: .whileObserved))
    cache.set(1, for: "a")
    let inspector = try server.inspector(cache, allowing: [.removing])

    #expect(try remove("a", of: inspector).contains("\"isDone\":false"))

    cache.set(1, for: "a")
    let (client, _) = try server.states(of: inspector)
    _ = server.nextState(client)
    cache.get("a").subscribe()
    #expect(try remove("a", of: inspector).contains("\"isDone\":true"))
    let below = Recorder<Int>().subscribe(to: lower.get("disk/a", Lookup()))
    #expect(below.values.isEmpty)
  }

  /// A key that is told from others by more than its text.
  private struct Version: Hashable, Sendable, CustomStringConvertible {
    let name: String
    let number: Int
    var description: String { name }
  }

  @Test func `of keys with the same text all that were asked for are removed`() throws {
    let memory = MemoryCache<Version, Int>(countLimit: 100)
    let cache = memory.monitored(by: CacheMonitor(active: .whileObserved))
    let keys = (0..<3).map { Version(name: "a", number: $0) }
    for key in keys { cache.set(1, for: key) }
    let times = ServerTimeouts(interval: .milliseconds(1))
    let inspector = try Inspector(
      InspectedSource(cache, title: "Versions", allowing: [.removing]), times)
    let (client, _) = try server.states(of: inspector)
    _ = server.nextState(client)
    for key in keys[..<2] { cache.get(key).subscribe() }

    #expect(try remove("a", of: inspector).contains("\"isDone\":true"))
    #expect(keys.map { memory.peek($0) } == [nil, nil, 1])
    client.hangUp()
    // Of none that was asked for.
    let unseen = try Inspector(
      InspectedSource(memory, title: "Versions", allowing: [.removing]), times)
    #expect(try remove("a", of: unseen).contains("\"isDone\":true"))
    #expect(memory.count == 0)
  }

  @Test func `a key under way is removed, also where keys cannot be mapped back`() throws {
    let origin = TestOrigin<String, Int>()
    let cache = memory.layered(over: lower.mapKeys { "disk/\($0)" }).layered(over: origin)
      .reusingInFlight()
    let inspector = try server.inspector(cache, allowing: [.removing])
    let caller = Recorder<Int>().subscribe(to: cache.get("slow"))

    #expect(try remove("slow", of: inspector).contains("\"isDone\":true"))

    origin["slow"].next(1)
    origin["slow"].completed()
    #expect(caller.values == [1])
    #expect(memory.peek("slow") == nil)
  }

  @Test func `of keys that begin alike only the named one is removed`() throws {
    let beginning = String(repeating: "k", count: KeyText.limit)
    let cache = memory.monitored(by: CacheMonitor(active: .whileObserved))
    for end in ["a", "b"] { cache.set(1, for: beginning + end) }
    let inspector = try server.inspector(cache, allowing: [.removing])
    let (client, _) = try server.states(of: inspector)
    _ = server.nextState(client)
    for end in ["a", "b"] { cache.get(beginning + end).subscribe() }

    for text in [beginning, beginning + "…"] {
      #expect(try remove(text, of: inspector).contains("\"isDone\":true"))
      #expect(memory.count == 2)
    }
    #expect(try remove(beginning + "a", of: inspector).contains("\"isDone\":true"))

    #expect(memory.peek(beginning + "a") == nil && memory.peek(beginning + "b") == 1)
    client.hangUp()
  }

  @Test(arguments: ["", "{}", "{\"key\":1}", "[", "\u{0}", "{\"key\":\"a\"", "null"])
  func `an unknown action is refused`(body: String) throws {
    let inspector = try server.inspector(memory, allowing: [.removing, .trimming])
    memory.set(1, for: "a")

    for path in ["remove", "trim"] {
      #expect(
        try server.reply(of: inspector, "POST", path, body: body).hasPrefix("HTTP/1.1 400 "))
    }

    #expect(memory.count == 1)
  }

  @Test func `a memory layer is trimmed to a share, also behind a policy`() throws {
    let cache = memory.readOnly().named("memory").layered(over: lower)
    for key in 0..<10 { memory.set(key, for: "\(key)") }
    let inspector = try server.inspector(cache, allowing: [.trimming])
    let trim = { (part: String, share: String) in
      try server.reply(
        of: inspector, "POST", "trim", body: "{\"part\":\"\(part)\",\"share\":\(share)}")
    }

    #expect(try trim("0.1", "0").hasPrefix("HTTP/1.1 404 "))
    #expect(try trim("0.7", "0").hasPrefix("HTTP/1.1 404 "))
    for share in ["-1", "1.5", "1e999"] {
      #expect(try trim("0.0", share).hasPrefix("HTTP/1.1 400 "))
    }
    #expect(memory.count == 10)
    #expect(try trim("0.0", "0.5").contains("\"isDone\":true"))
    #expect(memory.count == 5)
    #expect(try trim("0.0", "0").contains("\"isDone\":true"))
    #expect(memory.count == 0)
  }

  @Test func `an origin cannot be written`() throws {
    let inspected = InspectedSource(
      TestOrigin<String, Int>(), title: "", allowing: [.removing])
    let inspector = try Inspector(inspected, ServerTimeouts())

    #expect(try remove("a", of: inspector).contains("cannot be written"))
  }

  @Test func `the outcome of a write that takes long is not waited for`() throws {
    let times = ServerTimeouts(outcome: .milliseconds(1))
    let outcome = PublishSubject<Void>()
    let slow = AnyCache<String, Int>(
      get: { (_: String) in .empty }, removeMatching: { [signal = outcome.signal] _ in signal })
    let inspector = try Inspector(
      InspectedSource(slow, title: "", allowing: [.removing]), times)

    let reply = try remove("a", of: inspector)
    #expect(reply.contains("being removed"), "\(reply)")
    outcome.completed()
  }
}
