import Foundation
import LoopbackServer
import Millpond

/// The comment thread: a first pass over the network, a second from memory, and a second process
/// from disk.
struct ThreadShow: Sendable {
  private let options: Options
  private let folder: URL
  private let screen: Screen
  private let layers: PictureLayers
  private let authors: [Author]
  private let table = Locked(SummaryTable(layers: PictureLayers.names))

  init(_ options: Options, _ folder: URL, _ screen: Screen) {
    (self.options, self.folder, self.screen) = (options, folder, screen)
    layers = PictureLayers(folder: folder)
    authors = Author.writing(options.commentCount)
  }

  /// - Returns: Whether all pictures were loaded.
  func run() async throws -> Bool {
    // Ends on the user's request, after writes are on disk.
    let interruption = Interruption { [screen, layers] code in
      if screen.isLive { screen.write(Screen.cursor) }
      let written = DispatchSemaphore(value: 0)
      layers.disk.flush().onEnd { _ in written.signal() }.subscribe()
      _ = written.wait(timeout: .now() + .seconds(2))
      exit(code)
    }
    defer { withExtendedLifetime(interruption) {} }
    do {
      _ = try await layers.disk.count.value
    } catch {
      screen.write(lines: ["The disk layer does not work: \(error)", ""])
    }
    if let base = SecondProcess.originOfFirst {
      let title = "Second process: the same comments, a new memory, the same folder"
      let failures = await pass(title, base)
      screen.write(lines: table.withLock { $0.lines(screen) })
      return failures == 0
    }
    return try await runFirst()
  }

  private func runFirst() async throws -> Bool {
    let pictures = Dictionary(uniqueKeysWithValues: authors.map { ($0.path, $0.picture) })
    let origin = try LoopbackServer(latency: .milliseconds(60), bytesPerSecond: 150_000) {
      request in
      guard let bytes = pictures[request.path] else { return Response(status: 404) }
      return Response(headers: ["Content-Type": "image/bmp"], body: bytes)
    }
    defer { origin.stop() }
    let inspection = options.inspects ? try Inspection(of: layers, screen) : nil
    let (base, count) = (origin.baseURL, options.commentCount)
    let first = await pass(
      "First pass: \(count) comments by \(authors.count) authors", base, scrollingOn: origin)
    let requests = origin.exchanges.count
    screen.write(lines: ["\(count) comments cost \(requests) requests, one for each author.", ""])
    let second = await pass("Second pass: the same comments again", base)
    await inspection?.stay(authors.map { url(of: $0, base) })
    screen.write(lines: table.withLock { $0.lines(screen) } + [""])
    _ = try? await layers.disk.close()
    let again = try await SecondProcess.run(
      arguments: ["--comments", "\(count)"], cache: folder, origin: base)
    return first + second == 0 && again
  }

  /// - Parameter origin: The origin, for the pass in which rows scroll away; otherwise nil.
  /// - Returns: The number of pictures that could not be loaded.
  private func pass(
    _ title: String, _ base: String, scrollingOn origin: LoopbackServer? = nil
  ) async -> Int {
    let board = Board(title: title, on: screen)
    let pass = Pass(layers, board, table)
    let scrolling = origin.map { Scrolling(authors, pass, board, $0) { url(of: $0, base) } }
    for author in authors {
      pass.ask(for: url(of: author, base), label: author.name, places: author.count) {
        scrolling?.react(to: $0, of: author)
      }
    }
    await pass.finish()
    await scrolling?.finish()
    board.finish()
    return pass.failureCount
  }

  private func url(of author: Author, _ base: String) -> URL {
    URL(string: base + author.path) ?? URL(filePath: "/nobody")
  }
}
