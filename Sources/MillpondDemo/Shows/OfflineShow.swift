import Foundation
import LoopbackServer
import Millpond

/// An app that starts without a network.
///
/// It shows the stored value, its age and the error, and recovers when the origin is back.
struct OfflineShow: Sendable {
  private let folder: URL
  private let screen: Screen
  private let origin = Locked<LoopbackServer?>(nil)

  init(folder: URL, _ screen: Screen) {
    self.folder = folder
    self.screen = screen
  }

  /// - Returns: Whether everything was shown as intended.
  func run() async throws -> Bool {
    screen.title("The first start: the origin answers, and its answer is stored.")
    try start("The mill pond freezes over")
    let first = await startUp()
    stop()

    try await Task.sleep(for: .seconds(2))
    screen.title("Two seconds later, no network: the app starts with the value on disk.")
    let offline = await startUp()

    screen.title("The origin is back, and the user refreshes.")
    try start("The ice breaks")
    let recovered = await startUp(refreshes: true)
    stop()
    return first.isShown && offline.isStale && recovered.isRecovered
  }

  /// The last state shown in a start-up.
  private struct Seen {
    var last: ResourceState<News>?

    var isShown: Bool { last?.value != nil && last?.error == nil }
    var isStale: Bool { last?.value != nil && last?.error?.isConnectivityError == true }
    var isRecovered: Bool { isShown && last?.origin == .fetched }
  }

  /// Simulates a process, with a new multiplexer over the same folder.
  private func startUp(refreshes: Bool = false) async -> Seen {
    let news = Multiplexer<News>(
      freshness: FreshnessPolicy(freshFor: .after(.zero)),
      persistence: .disk("news", in: folder),
      signal: { [origin] in Self.fetch(from: origin.withLock { $0?.baseURL }) })
    let seen = Locked(Seen())
    let pulls = PublishSubject<Void>()
    let observation = news.observe(refreshingOn: pulls.signal).subscribe(onNext: { state in
      seen.withLock { $0.last = state }
      show(state)
    })
    // These gets join the fetches of the observation.
    _ = try? await news.get().value
    if refreshes {
      pulls.next(())
      _ = try? await news.get(freshness: .atMost(.zero)).value
    }
    _ = try? await news.flush()
    observation.dispose()
    return seen.withLock { $0 }
  }

  private static func fetch(from base: String?) -> Signal<News> {
    guard let url = URL(string: (base ?? "http://127.0.0.1:1") + "/news") else { return .empty }
    return HTTPSource().get(url).attemptMap { try JSONDecoder().decode(News.self, from: $0) }
  }

  // MARK: The origin

  private func start(_ headline: String) throws {
    let body = [UInt8](try JSONEncoder().encode(News(headline: headline)))
    let server = try LoopbackServer(latency: .milliseconds(120)) { _ in Response(body: body) }
    origin.withLock { $0 = server }
  }

  private func stop() {
    let server = origin.withLock { origin in
      defer { origin = nil }
      return origin
    }
    server?.stop()
  }

  // MARK: The screen

  private func show(_ state: ResourceState<News>) {
    let value = state.value.map { "“\($0.headline)”" } ?? "nothing yet"
    let ink: Screen.Ink? =
      switch state.origin {
      case .fetched: .fromAfar
      case .kept: .fromDisk
      case .set, nil: nil
      }
    var notes: [String] = []
    if let age = state.age { notes.append("\(seconds(age)) old") }
    if let origin = state.origin { notes.append("\(origin)") }
    if state.isLoading { notes.append(screen.painted("loading", .underWay)) }
    if let error = state.error {
      let reason = error.isConnectivityError ? "can't be reached" : "\(error)"
      notes.append(screen.painted(reason, .trouble))
    }
    let shown = screen.painted(value, ink)
    screen.say(([shown] + notes).joined(separator: ", "))
  }

  private func seconds(_ age: Duration) -> String {
    let tenths = age.components.seconds * 10 + age.components.attoseconds / 100_000_000_000_000_000
    return "\(tenths / 10).\(tenths % 10) s"
  }
}

/// The response of the origin.
struct News: Codable, Equatable, Sendable {
  let headline: String
}
