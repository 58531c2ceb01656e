import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

/// The scenarios of Multiplexer's README, over HTTP and a disk.
@Suite(.timeLimit(.minutes(3))) final class MultiplexerScenarioTests {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-multiplexer-\(UUID().uuidString)")
  let clock = ManualClock()

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  private struct Profile: Codable, Equatable {
    var name: String
  }

  private static func answer(_ name: String) -> Response {
    Response(body: Array(#"{"name":"\#(name)"}"#.utf8))
  }

  /// Returns the profile that is kept at `url`, remembered from one run of the app to the next.
  private func profile(
    at url: URL, freshFor: Duration = .seconds(1_800), scope: CacheScope? = nil
  ) -> Multiplexer<Profile> {
    Multiplexer(
      freshness: FreshnessPolicy(freshFor: .after(freshFor)),
      persistence: .disk("profile", in: folder), scope: scope, clock: clock,
      signal: {
        HTTPSource().get(url).attemptMap { try JSONDecoder().decode(Profile.self, from: $0) }
      })
  }

  @Test func `simultaneous start-up: many gets at once make one request`()
    async throws
  {
    let hold = ResponseHold()
    let origin = try LoopbackServer { _ in Self.answer("Ada").held(by: hold) }
    let profile = profile(at: try origin.url("/me"))
    let screens = (0..<20).map { _ in Recorder<Profile>().subscribe(to: profile.get()) }

    #expect(await origin.eventually { $0.exchanges.count == 1 })
    hold.release()
    for screen in screens { try await screen.ended() }

    #expect(screens.allSatisfy { $0.values == [Profile(name: "Ada")] })
    #expect(origin.exchanges.count == 1)
  }

  @Test func `offline start: the data of yesterday, its age, and the error`()
    async throws
  {
    let url: URL
    do {
      let origin = try LoopbackServer { _ in Self.answer("Ada") }
      url = try origin.url("/me")
      let yesterday = profile(at: url)
      _ = try await yesterday.get().value
      try await yesterday.flush().value
      origin.stop()
    }
    let today = profile(at: url, freshFor: .zero)
    let states = Recorder<ResourceState<Profile>>().subscribe(to: today.states)

    let shown = try await today.get().value

    #expect(shown == Profile(name: "Ada"))
    let last = try #require(states.values.last)
    #expect(last.value == Profile(name: "Ada"))
    #expect(last.origin == .kept)
    #expect(last.error?.isConnectivityError == true)
    #expect(last.age != nil)
  }

  @Test func `soft refresh keeps the old value usable, hard refresh does not`() async throws {
    let hold = ResponseHold()
    let count = Counter()
    let origin = try LoopbackServer { _ in
      let number = count.next()
      let answer = Self.answer("Ada \(number)")
      return number == 1 ? answer : answer.held(by: hold)
    }
    let profile = profile(at: try origin.url("/me"))
    _ = try await profile.get().value

    let refreshed = Recorder<Profile>().subscribe(to: profile.refresh())
    #expect(try await profile.get().value == Profile(name: "Ada 1"))
    hold.release()
    try await refreshed.ended()
    #expect(refreshed.values == [Profile(name: "Ada 2")])

    try await profile.remove().value
    #expect(profile.current == nil)
    #expect(try await profile.get().value == Profile(name: "Ada 3"))
  }

  @Test
  func `sign-out with a request in the air: the next user never sees the former one's profile`()
    async throws
  {
    let hold = ResponseHold()
    let user = Locked("Ada")
    let origin = try LoopbackServer { _ in
      Self.answer(user.withLock { $0 }).held(by: hold)
    }
    let session = CacheScope()
    let profile = profile(at: try origin.url("/me"), scope: session)
    let former = Recorder<Profile>().subscribe(to: profile.get())
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    try await session.end().value
    user.withLock { $0 = "Grace" }
    let next = Recorder<Profile>().subscribe(to: profile.get())
    #expect(await origin.eventually { $0.exchanges.count == 2 })
    hold.release()
    try await next.ended()

    #expect(former.values.isEmpty)
    #expect(former.failure != nil)
    #expect(next.values == [Profile(name: "Grace")])
    try await profile.flush().value
    #expect(profile.current == Profile(name: "Grace"))
  }

  @Test func `a map of profiles: each its own, together in the order asked`() async throws {
    let origin = try LoopbackServer { request in
      request.path == "/users/3"
        ? Response(status: 404) : Self.answer(String(request.path.dropFirst(7)))
    }
    let users = MultiplexerMap<Int, Profile>(
      persistence: .disk("users", in: folder)
    ) { id in
      let data = try await HTTPSource().get(try origin.url("/users/\(id)")).value
      return try JSONDecoder().decode(Profile.self, from: data)
    }

    let all = try await users.get(all: [2, 1, 3, 2]).value

    #expect(all.map { try? $0.get().name } == ["2", "1", nil, "2"])
    #expect(origin.exchanges.count == 3)
    try await users.flush().value
  }

  @Test func `three kinds at once, each with its own outcome`() async throws {
    let origin = try LoopbackServer { request in
      request.path == "/b" ? Response(status: 500) : Self.answer(request.path)
    }
    func resource(_ path: String) throws -> Multiplexer<Data> {
      let url = try origin.url(path)
      return Multiplexer(signal: { HTTPSource().get(url) })
    }
    let (one, two, three) = (try resource("/a"), try resource("/b"), try resource("/c"))

    let outcomes = try await zip(one.get().settle(), two.get().settle(), three.get().settle()).value

    #expect(throws: Never.self) { try outcomes.0.get() }
    #expect(throws: TransferError.self) { try outcomes.1.get() }
    #expect(throws: Never.self) { try outcomes.2.get() }
  }
}

private final class Counter: Sendable {
  private let count = Locked(0)

  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
