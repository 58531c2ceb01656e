import Foundation
import LoopbackServer
import Millpond

/// The example of a list with pictures: a first start, one without a network, and a pull to refresh.
struct FeedShow {
  private let folder: URL
  private let screen: Screen

  init(folder: URL, _ screen: Screen) {
    self.folder = folder
    self.screen = screen
  }

  /// - Returns: Whether everything was shown as intended.
  func run() async throws -> Bool {
    let published = Locked(2)
    let origin = try origin { published.withLock { $0 } }
    defer { origin.stop() }

    screen.title("The first start: nothing is stored.")
    let shown = try await start(origin.baseURL)
    screen.say("\(origin.exchanges.count) requests")

    screen.title("The next start, without a network.")
    let stale = try await start("http://127.0.0.1:1")

    screen.title("The network is back, and the user pulls to refresh.")
    origin.forgetExchanges()
    let refreshed = try await start(origin.baseURL) { published.withLock { $0 = 3 } }
    let what = "requests: for the list, and for one picture, since two are on disk"
    screen.say("\(origin.exchanges.count) \(what)")
    return shown == 2 && stale == 2 && refreshed == 3
  }

  /// Shows a start of the app.
  ///
  /// - Parameter beforePull: Runs before the user pulls to refresh; nil for a user who doesn't.
  /// - Returns: The number of rows whose picture is shown.
  private func start(_ base: String, beforePull: (() -> Void)? = nil) async throws -> Int {
    let feed = Feed(origin: base, folder: folder)
    let pulls = PublishSubject<Void>()
    let status = feed.status(refreshingOn: pulls.signal).subscribe(onNext: { screen.say($0) })
    defer { status.dispose() }
    var items = (try? await feed.list.get().value) ?? []
    if let beforePull {
      _ = try? await feed.list.get(freshness: .atMost(.seconds(1))).value
      beforePull()
      screen.say("(pull)")
      pulls.next(())
      items = (try? await feed.list.get(freshness: .atMost(.zero)).value) ?? items
    }
    let rows = try await feed.rows(of: items)
    for (item, picture) in rows {
      screen.say("▸ \(item.title), its picture has \(picture.count) bytes")
    }
    try await feed.close()
    return rows.count
  }

  /// Returns an origin of a list with so many items, and of the pictures in it.
  private func origin(_ count: @escaping @Sendable () -> Int) throws -> LoopbackServer {
    let titles = ["The mill pond freezes over", "Ducks walk", "The ice breaks"]
    return try LoopbackServer(latency: .milliseconds(80)) { request in
      if request.path != "/feed" { return Response(body: Array(repeating: 7, count: 40_000)) }
      let items = titles.prefix(count()).enumerated().map {
        Feed.Item(title: $1, picture: "/pictures/\($0).png")
      }
      return Response(body: [UInt8]((try? JSONEncoder().encode(items)) ?? Data()))
    }
  }
}
