import Foundation
import Millpond

/// The caches of an app that shows a list of items with pictures: it starts without a network, and
/// refreshes by pull.
///
/// The list is one remembered resource, on disk too. Pictures are layers of memory, disk and
/// network; rows that show the same picture share its download.
struct Feed: Sendable {
  /// One row of the list.
  struct Item: Codable, Sendable {
    let title: String
    let picture: String
  }

  let list: Multiplexer<[Item]>
  let pictures: AnyCache<String, Data>
  private let disk: DiskCache

  init(origin base: String, folder: URL) {
    let origin = HTTPSource { (path: String) in
      guard let url = URL(string: base + path) else { throw URLError(.badURL) }
      return HTTPRequest(url: url)
    }
    disk = DiskCache(directory: folder.appending(path: "pictures"), byteLimit: .mebibytes(64))
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
  }

  /// Returns the state of the list as a line of text, as often as it changes.
  ///
  /// - Parameter pulls: Sends when the user pulls to refresh.
  func status(refreshingOn pulls: Signal<Void>) -> Signal<String> {
    list.observe(refreshingOn: pulls)
      .filter { $0.value != nil || $0.isLoading }
      .map { state in
        var notes = [state.value.map { "\($0.count) items" } ?? "no items"]
        if state.isLoading { notes.append("loading") }
        if let error = state.error {
          notes.append(error.isConnectivityError ? "the origin can't be reached" : "\(error)")
        }
        return notes.joined(separator: ", ")
      }
      .distinct()
  }

  /// Returns the rows whose pictures can be shown, with the pictures.
  ///
  /// In a view, each row subscribes to its own picture when it appears, and disposes when it goes.
  func rows(of items: [Item]) async throws -> [(item: Item, picture: Data)] {
    let answers = try await pictures.get(all: items.map(\.picture)).value
    return zip(items, answers).compactMap { item, answer in
      (try? answer.get()).map { (item, $0) }
    }
  }

  /// Writes what is not on disk yet, and closes the folders.
  func close() async throws {
    try await list.flush()
    try await disk.close()
  }
}
