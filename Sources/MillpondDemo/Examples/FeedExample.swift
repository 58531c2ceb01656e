import Foundation
import LoopbackServer
import Millpond

/// A list of items with pictures: it starts without a network, and refreshes by pull.
///
/// The list is one remembered resource, on disk too. Pictures are layers of memory, disk and
/// network; rows that show the same picture share its download.
struct FeedExample {
  /// One row of the list.
  struct Item: Codable, Sendable {
    let title: String
    let picture: String
  }

  private let folder: URL
  private let screen: Screen

  init(folder: URL, _ screen: Screen) {
    self.folder = folder
    self.screen = screen
  }

  /// - Returns: Whether everything was shown as intended.
  func run() async throws -> Bool {
    let published = Locked(2)
    let origin = try FeedOrigin.start { published.withLock { $0 } }
    let base = origin.baseURL

    title("The first start: nothing is stored.")
    let first = App(base: base, folder: folder)
    let shown = await first.show(on: screen)
    screen.write(lines: ["  \(origin.exchanges.count) requests"])
    try await first.close()

    title("The next start, without a network.")
    let offline = App(base: "http://127.0.0.1:1", folder: folder)
    let stale = await offline.show(on: screen)
    try await offline.close()

    title("The network is back, and the user pulls to refresh.")
    origin.forgetExchanges()
    let online = App(base: base, folder: folder)
    let refreshed = await online.show(on: screen) { published.withLock { $0 = 3 } }
    let what = "requests: for the list, and for one picture, since two are on disk"
    screen.write(lines: ["  \(origin.exchanges.count) \(what)"])
    try await online.close()
    origin.stop()
    return shown == 2 && stale == 2 && refreshed == 3
  }

  private func title(_ text: String) {
    screen.write(lines: ["", screen.style.painted(text, .title)])
  }
}

// MARK: - The app

extension FeedExample {
  /// The caches of an app, which it keeps while it runs.
  struct App {
    let list: Multiplexer<[Item]>
    let pictures: AnyCache<String, Data>
    let disk: DiskCache

    init(base: String, folder: URL) {
      let origin = HTTPSource { (path: String) in
        guard let url = URL(string: base + path) else { throw URLError(.badURL) }
        return HTTPRequest(url: url)
      }
      let disk = DiskCache(
        directory: folder.appending(path: "pictures"), byteLimit: .mebibytes(64))
      pictures = AnyCache(
        MemoryCache(costLimit: .mebibytes(16), cost: \.count)
          .layered(over: disk.layered(over: origin.limited(to: 4)))
          .reusingInFlight())
      list = Multiplexer(
        // Each appearance asks anew, and shows meanwhile what is stored.
        freshness: FreshnessPolicy(freshFor: .after(.zero)),
        persistence: .disk("feed", in: folder.appending(path: "list")),
        signal: {
          origin.get("/feed").attemptMap { try JSONDecoder().decode([Item].self, from: $0) }
        })
      self.disk = disk
    }

    /// Shows the list as it changes, and the pictures of its rows.
    ///
    /// - Parameter beforePull: Runs before the user pulls to refresh; nil for a user who doesn't.
    /// - Returns: The number of rows whose picture is shown.
    func show(on screen: Screen, beforePull: (() -> Void)? = nil) async -> Int {
      let pulls = PublishSubject<Void>()
      let observation = list.observe(refreshingOn: pulls.signal)
        .filter { $0.value != nil || $0.isLoading }.map { describe($0) }.distinct()
        .subscribe(onNext: { screen.write(lines: ["  " + $0]) })
      defer { observation.dispose() }

      var items = (try? await list.get().value) ?? []
      if let beforePull {
        _ = try? await list.get(freshness: .atMost(.seconds(1))).value
        beforePull()
        screen.write(lines: ["  (pull)"])
        pulls.next(())
        items = (try? await list.get(freshness: .atMost(.zero)).value) ?? items
      }
      // In a view, each row subscribes when it appears, and disposes when it goes.
      let answers = try? await pictures.get(all: items.map(\.picture)).value
      let found = (answers ?? []).compactMap { try? $0.get() }
      for (item, picture) in zip(items, found) {
        screen.write(lines: ["  ▸ \(item.title), its picture has \(picture.count) bytes"])
      }
      return found.count
    }

    private func describe(_ state: ResourceState<[Item]>) -> String {
      var notes = [state.value.map { "\($0.count) items" } ?? "no items"]
      if state.isLoading { notes.append("loading") }
      if let error = state.error {
        notes.append(error.isConnectivityError ? "the origin can't be reached" : "\(error)")
      }
      return notes.joined(separator: ", ")
    }

    /// Writes what is not on disk yet, and closes the folders.
    func close() async throws {
      try await list.flush()
      try await disk.close()
    }
  }
}

// MARK: - The origin

/// An origin of a list, and of the pictures in it.
private enum FeedOrigin {
  /// - Parameter count: Returns the number of items that are published.
  static func start(_ count: @escaping @Sendable () -> Int) throws -> LoopbackServer {
    let titles = ["The mill pond freezes over", "Ducks walk", "The ice breaks"]
    return try LoopbackServer(latency: .milliseconds(80)) { request in
      if request.path != "/feed" { return Response(body: Array(repeating: 7, count: 40_000)) }
      let items = titles.prefix(count()).enumerated().map {
        FeedExample.Item(title: $1, picture: "/pictures/\($0).png")
      }
      return Response(body: [UInt8]((try? JSONEncoder().encode(items)) ?? Data()))
    }
  }
}
