import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

/// The code of the page "Media files".
@Suite(.timeLimit(.minutes(3))) struct MediaFilesTests {
  struct Player {
    @discardableResult func play(_ file: URL) -> Data? { try? Data(contentsOf: file) }
  }

  static func films(in folder: URL) -> MediaCache<URL> {
    // snippet
    let films = MediaCache(
      DiskCache(directory: folder.appending(path: "films"), byteLimit: .mebibytes(2_048)),
      over: HTTPSource(
        resuming: PartialTransfers(
          directory: folder.appending(path: "partials"), byteLimit: .mebibytes(256))),
      limitedTo: 4, name: \.absoluteString)
    // end
    return films
  }

  static func play(_ url: URL, from films: MediaCache<URL>, on player: Player) async throws {
    // snippet
    let film = try await films.get(url, priority: .high).value
    player.play(film.url)
    // end
    #expect(player.play(film.url) == Data("one\ntwo".utf8))
  }

  static func prefetch(_ nextURL: URL, from films: MediaCache<URL>) -> Disposable {
    // snippet
    let ahead = films.prefetch([nextURL]).subscribe()
    // end
    return ahead
  }

  static func stored(_ url: URL, in films: MediaCache<URL>) async throws -> DiskFile? {
    // snippet
    let stored = try await films.get(url, freshness: .cachedOnly).valueIfAny
    // end
    return stored
  }

  static func subtitles(from films: MediaCache<URL>) -> some Cache<URL, [String]> {
    // snippet
    let subtitles = MemoryCache<URL, [String]>(countLimit: 50)
      .layered(over: films.decoding { bytes in lines(of: bytes) })
      .reusingInFlight()
    // end
    return subtitles
  }

  static func lines(of bytes: Data) -> [String] {
    String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private let scene = GuideScene()

  @Test func `a film is fetched ahead once, played, found offline and decoded`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Array("one\ntwo".utf8)) }
    let url = try origin.url("/film")
    let films = Self.films(in: scene.folder)
    #expect(try await Self.stored(url, in: films) == nil)
    let ahead = Self.prefetch(url, from: films)

    try await Self.play(url, from: films, on: Player())
    ahead.dispose()

    #expect(try await Self.stored(url, in: films)?.byteCount == 7)
    #expect(try await Self.subtitles(from: films).get(url).value == ["one", "two"])
    #expect(origin.exchanges.count == 1)
  }

  @Test func `the outcome of a prefetch has a value once the file is stored`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Array("one".utf8)) }
    let url = try origin.url("/film")
    let films = Self.films(in: scene.folder)

    for _ in 0..<2 { try await films.prefetch([url]).value }

    #expect(try await Self.stored(url, in: films)?.byteCount == 3)
    #expect(origin.exchanges.count == 1)
  }
}
