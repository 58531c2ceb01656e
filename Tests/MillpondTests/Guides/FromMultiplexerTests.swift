import Foundation
import Millpond
import MillpondTesting
import Testing

/// The code of the page "Coming from Multiplexer or AsyncMux".
@Suite(.timeLimit(.minutes(3))) struct FromMultiplexerTests {
  struct Account: Codable, Sendable {
    var places: [String]
  }

  struct Weather: Codable, Sendable, Equatable {
    var degrees: Int
  }

  /// A server that counts calls, and can be out of reach.
  final class Backend: Sendable {
    let calls = Recorder<[String]>()
    let called = PublishSubject<[String]>()
    let isOffline: Bool

    init(isOffline: Bool = false) {
      self.isOffline = isOffline
      calls.subscribe(to: called.signal)
    }

    func account() async throws -> Account {
      try check(["account"])
      return Account(places: ["Oslo", "Rome"])
    }

    func weather(at places: [String]) async throws -> [String: Weather] {
      try check(places)
      return Dictionary(uniqueKeysWithValues: places.map { ($0, Weather(degrees: $0.count)) })
    }

    private func check(_ call: [String]) throws {
      called.next(call)
      if isOffline { throw URLError(.notConnectedToInternet) }
    }
  }

  // snippet
  struct Model: Sendable {
    let session = CacheScope()
    let account: Multiplexer<Account>
    let weather: MultiplexerMap<String, Weather>
    let repository = Repository()

    init(_ backend: Backend, in folder: URL) throws {
      account = Multiplexer(persistence: .disk("Account", in: folder), scope: session) {
        try await backend.account()
      }
      let places = BulkSource<String, Weather> { places in
        .async { try await backend.weather(at: places) }
      }
      weather = MultiplexerMap(
        over: places.batching(window: .milliseconds(5), max: 50),
        persistence: .disk("Weather", in: folder), scope: session)
      try repository.add(account, named: "account")
      try repository.add(weather, named: "weather")
    }
  }
  // end

  // snippet
  func load(_ model: Model, pulled: Bool) async throws -> [Weather] {
    if pulled { model.repository.markAllStale() }
    let account = try await model.account.get().value
    let found = try await model.weather.get(all: account.places).value
    return found.compactMap { try? $0.get() }
  }
  // end

  static func leave(_ model: Model) async throws {
    // snippet
    try await model.repository.flush()  // when the app enters the background
    try await model.session.end()  // at a sign-out
    // end
  }

  private let scene = GuideScene()
  private let expected = [Weather(degrees: 4), Weather(degrees: 4)]

  @Test func `a list is fetched once, and once more after a pull`() async throws {
    let backend = Backend()
    let model = try Model(backend, in: scene.folder)

    #expect(try await load(model, pulled: false) == expected)
    #expect(try await load(model, pulled: false) == expected)
    // How many keys come in time for one batch is not up to the test.
    #expect(backend.calls.values.flatMap { $0 }.sorted() == ["Oslo", "Rome", "account"])

    #expect(try await load(model, pulled: true) == expected)
    #expect(
      backend.calls.values.flatMap { $0 }.sorted()
        == ["Oslo", "Oslo", "Rome", "Rome", "account", "account"])
  }

  @Test func `the next start shows what was stored, also offline and pulled`() async throws {
    do {
      let model = try Model(Backend(), in: scene.folder)
      _ = try await load(model, pulled: false)
      try await model.repository.flush()
    }

    let backend = Backend(isOffline: true)
    let model = try Model(backend, in: scene.folder)

    #expect(try await load(model, pulled: false) == expected)
    #expect(backend.calls.values.isEmpty)
    #expect(try await load(model, pulled: true) == expected)
    #expect(!backend.calls.values.isEmpty)
  }

  @Test func `after a sign-out nothing is stored`() async throws {
    let model = try Model(Backend(), in: scene.folder)
    _ = try await load(model, pulled: false)

    try await Self.leave(model)

    #expect(model.account.current == nil)
    #expect(try await model.weather.get("Oslo", freshness: .cachedOnly).valueIfAny == nil)
  }
}
