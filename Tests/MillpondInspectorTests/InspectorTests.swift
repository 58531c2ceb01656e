import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import MillpondInspector

@Suite struct InspectorTests {
  let memory = MemoryCache<String, Int>(countLimit: 100)

  /// The port and the path of an inspector's page.
  func parts(of inspector: Inspector) throws -> (port: UInt16, path: String) {
    let parts = inspector.address.split(separator: "/", omittingEmptySubsequences: false)
    let port = try #require(UInt16(parts[2].split(separator: ":")[1]))
    return (port, "/\(parts[3])/")
  }

  func inspector(
    _ cache: some Cache<String, Int> = EmptyCache<String, Int>(),
    allowing: Set<InspectorPermission> = [],
    times: ServerTimeouts = ServerTimeouts(interval: .milliseconds(1))
  ) throws -> Inspector {
    try Inspector(InspectedSource(cache, title: "Numbers", allowing: allowing), times)
  }

  /// Sends a request, and returns what comes until the end of the connection.
  func reply(
    of inspector: Inspector, _ method: String = "GET", _ rest: String = "", body: String? = nil,
    more: String = ""
  ) throws -> String {
    let (port, path) = try parts(of: inspector)
    let client = try Client(port: port)
    let host = "127.0.0.1:\(port)"
    let length = body.map { "Origin: http://\(host)\r\nContent-Length: \($0.utf8.count)\r\n" } ?? ""
    client.write(
      "\(method) \(path)\(rest) HTTP/1.1\r\nHost: \(host)\r\n\(length)\(more)\r\n\(body ?? "")")
    return client.readToEnd().text
  }

  /// Opens the stream of states, and returns the client after the head.
  func states(of inspector: Inspector) throws -> (client: Client, status: String) {
    let (port, path) = try parts(of: inspector)
    let client = try Client(port: port)
    client.write("GET \(path)events HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
    return (client, client.readHead().first ?? "")
  }

  /// Reads up to the end of the next state.
  func nextState(_ client: Client) -> String {
    var text = ""
    while !text.hasSuffix("\n\n") || !text.contains("data: ") {
      let next = client.read(1)
      if next.isEmpty { break }
      text += next
    }
    return text
  }

  // MARK: The page

  @Test func `the page comes in one document with a nonce of its own and nothing from elsewhere`()
    throws
  {
    let inspector = try inspector()

    let page = try reply(of: inspector)

    #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n"))
    let nonce = try #require(page.split(separator: "script-src 'nonce-").last?.prefix(32))
    #expect(page.contains("<style nonce=\"\(nonce)\">"))
    #expect(page.contains("<script nonce=\"\(nonce)\">"))
    #expect(page.contains("default-src 'none'") && page.contains("frame-ancestors 'none'"))
    #expect(page.contains("Referrer-Policy: no-referrer"))
    #expect(page.hasSuffix("</html>\n"))
    #expect(!page.contains("src=") && !page.contains("innerHTML") && !page.contains("https:"))
    #expect(try !reply(of: inspector).contains(nonce))
  }

  @Test func `the states follow each other`() throws {
    let inspector = try inspector(memory)
    memory.set(1, for: "a")
    let (client, status) = try states(of: inspector)
    #expect(status == "HTTP/1.1 200 OK")

    #expect(nextState(client).contains("\"count\":1"))
    memory.set(2, for: "b")
    var state = nextState(client)
    while state.contains("\"count\":1") { state = nextState(client) }
    #expect(state.contains("\"count\":2"))
  }

  @Test func `nothing is looked at, and no get recorded, without an open page`() async throws {
    let monitor = CacheMonitor(active: .whileObserved)
    let looks = Locked(0)
    let watched = Looked(base: memory.monitored(by: monitor)) { looks.withLock { $0 += 1 } }
    let inspector = try inspector(watched)
    _ = try reply(of: inspector)
    watched.get("a").subscribe()
    #expect(looks.withLock { $0 } == 0)
    #expect(monitor.statistics.isEmpty)

    let (client, _) = try states(of: inspector)
    _ = nextState(client)
    watched.get("a").subscribe()
    var state = nextState(client)
    while !state.contains("\"key\":\"a\"") { state = nextState(client) }
    #expect(state.contains("MemoryCache"))
    #expect(looks.withLock { $0 } > 0)
    #expect(monitor.statistics["MemoryCache"]?.misses == 1)

    client.hangUp()
    inspector.stop()
    watched.get("a").subscribe()
    #expect(monitor.statistics["MemoryCache"]?.misses == 1)
  }

  @Test func `a collector gets the counters of all monitors and the sizes of the layers`() throws {
    let (one, other) = (CacheMonitor(), CacheMonitor())
    let cache = AnyCache(memory.named("a").monitored(by: one))
      .layered(over: AnyCache(TestCache<String, Int>().named("a").monitored(by: other)))
    memory.set(1, for: "k")
    cache.get("k").subscribe()
    cache.get("absent").subscribe()
    let inspector = try inspector(cache)

    let reply = try reply(of: inspector, "GET", "metrics")

    #expect(reply.contains("Content-Type: text/plain; version=0.0.4"))
    #expect(reply.contains("millpond_gets_total{layer=\"a\",outcome=\"hit\"} 1\n"))
    #expect(reply.contains("millpond_gets_total{layer=\"a\",outcome=\"miss\"} 2\n"))
    #expect(reply.contains("millpond_entries{layer=\"a\"} 1\n"))
    #expect(try self.reply(of: inspector, "POST", "metrics").hasPrefix("HTTP/1.1 405 "))
  }

  /// A cache that reports looks at its topology.
  struct Looked<Base: Cache<String, Int>>: Cache {
    let base: Base
    let look: @Sendable () -> Void

    func get(_ key: String, _ lookup: Lookup) -> Signal<Int> { base.get(key, lookup) }

    func apply(_ change: Change<String, Int>) -> Signal<Void> { base.apply(change) }

    func topology(for key: String?) -> Topology {
      look()
      return base.topology(for: key)
    }
  }

  // MARK: Bad input

  @Test func `a wrong token, or none, finds nothing`() throws {
    let inspector = try inspector()
    let (port, path) = try parts(of: inspector)
    for wrong in ["/", "/favicon.ico", path.replacing("0", with: "1") + "x", "/" + path] {
      let client = try Client(port: port)
      client.write("GET \(wrong) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
      let (text, end) = client.readToEnd()
      #expect(text.hasPrefix("HTTP/1.1 404 "))
      #expect(end == .orderly)
      #expect(!text.contains(path))
    }
  }

  @Test func `another host or origin is refused`() throws {
    let inspector = try inspector()
    let (port, path) = try parts(of: inspector)
    let client = try Client(port: port)
    client.write("GET \(path) HTTP/1.1\r\nHost: evil.example:\(port)\r\n\r\n")
    #expect(client.readToEnd().text.hasPrefix("HTTP/1.1 403 "))
    #expect(try reply(of: inspector, more: "Origin: null\r\n").hasPrefix("HTTP/1.1 403 "))
  }

  @Test func `a head of ten megabytes is refused after the first bytes`() throws {
    let inspector = try inspector()
    let (port, _) = try parts(of: inspector)
    let client = try Client(port: port)
    client.write("GET / HTTP/1.1\r\n" + String(repeating: "x", count: 10_000_000))
    let text = client.readToEnd().text
    // A client that sends on after the answer may lose it.
    #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 431 "))
    #expect(try reply(of: inspector).hasPrefix("HTTP/1.1 200 "))
  }

  @Test func `a head of a few bytes too many is refused in words`() throws {
    let more = "X: " + String(repeating: "x", count: RequestAdmission.headByteLimit) + "\r\n"
    #expect(try reply(of: try inspector(), more: more).hasPrefix("HTTP/1.1 431 "))
  }

  @Test func `a body of ten megabytes is refused unread`() throws {
    let inspector = try inspector(allowing: [.removing])
    let more = "Origin: \(inspector.address.dropLast(34))\r\nContent-Length: 10000000\r\n"
    #expect(try reply(of: inspector, "POST", "remove", more: more).hasPrefix("HTTP/1.1 413 "))
  }

  @Test(arguments: ["x", "GET  HTTP/1.1\r\n\r\n", "GET / HTTP/2\r\n\r\n", "\u{0}\r\n\r\n"])
  func `bytes that are not a request are refused`(text: String) throws {
    let inspector = try inspector()
    let (port, _) = try parts(of: inspector)
    let client = try Client(port: port)
    client.write(text + "\r\n\r\n")
    #expect(client.readToEnd().text.hasPrefix("HTTP/1.1 400 ") || text == "x")
  }

  @Test func `a fifth page is refused, and one that closes makes room`() throws {
    let inspector = try inspector()
    let clients = try (0..<4).map { _ in try states(of: inspector) }
    for (client, status) in clients {
      #expect(status == "HTTP/1.1 200 OK")
      _ = nextState(client)
    }
    #expect(try states(of: inspector).status == "HTTP/1.1 503 Service Unavailable")

    clients[0].client.hangUp()
    var status = ""
    while !status.hasPrefix("HTTP/1.1 200") { status = try states(of: inspector).status }
    #expect(status == "HTTP/1.1 200 OK")
  }

  @Test func `a connection beyond the limit is closed unread, and one that ends makes room`()
    throws
  {
    let inspector = try inspector()
    let (port, _) = try parts(of: inspector)
    let silent = try (0..<InspectorServer.connectionLimit).map { _ in try Client(port: port) }

    #expect(try reply(of: inspector).isEmpty)

    silent[0].hangUp()
    var page = ""
    while page.isEmpty { page = (try? reply(of: inspector)) ?? "" }
    #expect(page.hasPrefix("HTTP/1.1 200 "))
    silent[1].hangUp()
  }

  @Test func `a state follows another one after the interval only`() throws {
    let looks = Locked(0)
    let watched = Looked(base: memory) { looks.withLock { $0 += 1 } }
    let inspector = try inspector(watched, times: ServerTimeouts(interval: .seconds(3_600)))
    let (client, _) = try states(of: inspector)
    _ = nextState(client)
    let before = looks.withLock { $0 }

    for _ in 0..<20 { _ = try reply(of: inspector) }

    #expect(looks.withLock { $0 } == before)
    client.hangUp()
  }

  @Test func `of more gets than a state has room for the newest are sent, and the others counted`()
    throws
  {
    let cache = memory.monitored(by: CacheMonitor(active: .whileObserved))
    let busy = Looked(base: cache) {
      for key in 0..<500 { cache.get("\(key)").subscribe() }
    }
    let inspector = try inspector(busy)
    let (client, _) = try states(of: inspector)

    let state = nextState(client)

    #expect(state.matches(of: /"number":/).count == Snapshot.getLimit)
    #expect(state.contains("\"skipped\":\(500 - Snapshot.getLimit)"))
    client.hangUp()
  }

  @Test func `no part of it is kept, guessed at, or shown inside another page`() throws {
    let inspector = try inspector()
    let heads = [try reply(of: inspector), try reply(of: inspector, "GET", "none")]

    for head in heads {
      for field in [
        "Cache-Control: no-store", "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY",
        "Cross-Origin-Resource-Policy: same-origin", "Cross-Origin-Opener-Policy: same-origin",
      ] {
        #expect(head.contains(field + "\r\n"))
      }
    }
  }

  @Test func `a browser that never reads is disconnected, and the caches go on`() throws {
    let times = ServerTimeouts(interval: .zero, response: .milliseconds(20))
    let cache = memory.monitored(by: CacheMonitor(active: .whileObserved))
    let inspector = try inspector(cache, times: times)
    let (client, _) = try states(of: inspector)

    // The connection is closed when its buffers are full.
    while inspector.openPageCount > 0 { cache.get("a").subscribe() }

    cache.set(1, for: "a")
    #expect(cache.now("a", Lookup()) == 1)
    _ = client
  }

  @Test func `a silent browser is disconnected`() throws {
    let inspector = try inspector(
      allowing: [.removing], times: ServerTimeouts(request: .milliseconds(20)))
    let (port, path) = try parts(of: inspector)
    let change = "Host: 127.0.0.1:\(port)\r\nOrigin: http://127.0.0.1:\(port)\r\n"
    let unfinished = [
      "", "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1",
      "POST \(path)remove HTTP/1.1\r\n\(change)Content-Length: 100\r\n\r\n{",
    ]
    for text in unfinished {
      let client = try Client(port: port)
      client.write(text)
      let (text, end) = client.readToEnd()
      #expect(text.isEmpty && end != nil)
    }
  }

  // MARK: The end

  @Test func `stopping ends the connections, and so does the release`() throws {
    let inspector = try inspector()
    let (client, _) = try states(of: inspector)
    inspector.stop()
    inspector.stop()
    #expect(client.readToEnd().end != nil)

    let (other, port) = try {
      let released = try self.inspector()
      let (client, _) = try states(of: released)
      return (client, try parts(of: released).port)
    }()
    #expect(other.readToEnd().end != nil)
    #expect(throws: Client.Refused.self) { try Client(port: port) }
  }
}
