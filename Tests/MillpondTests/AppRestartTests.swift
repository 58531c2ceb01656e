import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

/// An app of the tour, with the caches of the README, from one launch to the next.
@Suite(.timeLimit(.minutes(3))) final class AppRestartTests {
  private struct Profile: Codable, Equatable {
    var name: String
  }

  /// What one launch makes; the next one makes it anew, in the same folder.
  private struct App {
    let session = CacheScope()
    let me: Multiplexer<Profile>
    let users: MultiplexerMap<Int, Profile>
    let pictures: AnyCache<URL, Data>

    init(in folder: URL, at origin: URL) {
      @Sendable func profile(at path: String) -> Signal<Profile> {
        HTTPSource().get(origin.appending(path: path))
          .attemptMap { try JSONDecoder().decode(Profile.self, from: $0) }
      }
      me = Multiplexer(
        persistence: .disk("me", in: folder), scope: session, signal: { profile(at: "me") })
      users = MultiplexerMap(
        over: FunctionSource<Int, Profile>.signal { profile(at: "users/\($0)") },
        freshness: FreshnessPolicy(
          freshFor: .after(.zero), usableFor: .days(1), stale: .atOnce),
        persistence: .disk("users", in: folder), scope: session)
      let disk = DiskCache(
        directory: folder.appending(path: "pictures"), byteLimit: .mebibytes(16))
      pictures = AnyCache(
        MemoryCache<URL, Data>(costLimit: .mebibytes(4), cost: \.count)
          .layered(
            over: disk.mapKeys(\.absoluteString).layered(over: HTTPSource().limited(to: 6))
              .reusingInFlight()
          )
          .scoped(to: session))
    }

    func flush() async throws {
      try await me.flush()
      try await users.flush()
      try await pictures.flush().value
    }
  }

  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-app-\(UUID().uuidString)")
  private let user = Locked("Ada")
  private let origin: LoopbackServer
  private let address: URL
  private var picture: URL { address.appending(path: "picture") }

  init() throws {
    let user = user
    origin = try LoopbackServer { request in
      let name = user.withLock { $0 } + request.path
      return request.path == "/picture"
        ? Response(body: Array(name.utf8)) : Response(body: Array(#"{"name":"\#(name)"}"#.utf8))
    }
    address = try origin.url("/")
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Fetches all that the screens of an app show.
  private func visit(_ app: App) async throws {
    _ = try await app.me.get().value
    for id in 1...3 { _ = try await app.users.get(id).value }
    _ = try await app.pictures.get(picture).value
  }

  /// One launch that fetches everything, and ends.
  private func launch(signsOut: Bool = false) async throws {
    let app = App(in: folder, at: address)
    try await visit(app)
    try await app.flush()
    if signsOut { try await app.session.end().value }
  }

  /// Expects that a launch without an origin shows what this user has seen; nil for nobody.
  private func expectOffline(_ name: String?) async throws {
    let app = App(in: folder, at: address)
    let me = Recorder<ResourceState<Profile>>().subscribe(to: app.me.observe())
    let user = Recorder<ResourceState<Profile>>().subscribe(to: app.users.observe(2))

    let shownMe = try? await app.me.get().value
    let shownUser = Recorder<Profile>().subscribe(to: app.users.get(2))
    try await shownUser.ended()
    let picture = try? await app.pictures.get(picture).value

    #expect(shownMe?.name == name.map { $0 + "/me" })
    #expect(shownUser.values.map(\.name) == (name.map { [$0 + "/users/2"] } ?? []))
    #expect(picture == name.map { Data(($0 + "/picture").utf8) })
    #expect(me.values.last?.value?.name == name.map { $0 + "/me" })
    #expect(user.values.last?.value?.name == name.map { $0 + "/users/2" })
    #expect(user.values.last?.error?.isConnectivityError == true)
    #expect(me.values.allSatisfy { $0.value == nil || $0.value?.name == name.map { $0 + "/me" } })
    #expect(me.values.last?.error == nil || name == nil)
    #expect(me.violations.isEmpty && user.violations.isEmpty && shownUser.violations.isEmpty)
  }

  @Test func `a launch without a connection shows what the last one has fetched`() async throws {
    try await launch()
    origin.stop()

    try await expectOffline("Ada")
    try await expectOffline("Ada")
  }

  @Test func `after a sign-out the next launch shows nothing of the user`() async throws {
    try await launch(signsOut: true)
    origin.stop()

    try await expectOffline(nil)
  }

  @Test func `a sign-out right after a launch removes what earlier ones have fetched`()
    async throws
  {
    try await launch()
    try await App(in: folder, at: address).session.end().value
    origin.stop()

    try await expectOffline(nil)
  }

  @Test func `a launch shows what the next user has fetched, and nothing of the former`()
    async throws
  {
    try await launch()
    do {
      let app = App(in: folder, at: address)
      #expect(try await app.me.get().value.name == "Ada/me")
      try await app.session.end().value
      user.withLock { $0 = "Grace" }
      try await visit(app)
      try await app.flush()
    }
    origin.stop()

    try await expectOffline("Grace")
  }
}
