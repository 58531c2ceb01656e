import Foundation
import LoopbackServer
import Millpond

/// The comment thread: a first pass over the network, a second from memory, and a second process
/// from disk.
struct ThreadShow: Sendable {
  let layers: PictureLayers
  let gallery: Gallery
  let comments: Comments
  let base: String
  let screen: Screen
  let table = LockedState(SummaryTable(layers: PictureLayers.names))

  /// Shows two passes with the demo's own origin.
  ///
  /// - Returns: The number of pictures that could not be loaded.
  func run(on origin: LoopbackServer, keeping board: CurrentBoard) async -> Int {
    let first = await pass(
      "First pass: \(comments.all.count) comments by \(comments.authors.count) authors", board,
      origin)
    let requests = origin.exchanges.count
    screen.write(lines: [
      "\(comments.all.count) comments cost \(requests) requests, one for each author.", "",
    ])
    let second = await pass("Second pass: the same comments again", board, nil)
    return first + second
  }

  /// Shows one pass in a process that finds the pictures on disk.
  func runAgain(keeping board: CurrentBoard) async -> Int {
    await pass("Second process: the same comments, a new memory, the same folder", board, nil)
  }

  /// - Parameter origin: The origin, for the pass in which rows scroll away; otherwise nil.
  private func pass(
    _ title: String, _ currentBoard: CurrentBoard, _ origin: LoopbackServer?
  ) async -> Int {
    let board = currentBoard.open(title, on: screen)
    let pass = Pass(layers, board, table)
    let scrolling = origin.flatMap { Scrolling(comments, pass, board, $0, gallery, url: url) }
    for author in comments.authors {
      pass.ask(for: url(of: author), label: author.name, places: comments.count(by: author)) {
        scrolling?.react(to: $0, of: author)
      }
    }
    await pass.finish()
    await scrolling?.finish()
    currentBoard.close()
    return pass.failureCount
  }

  func url(of author: Author) -> URL {
    URL(string: base + gallery.path(of: author)) ?? URL(fileURLWithPath: "/nobody")
  }
}
