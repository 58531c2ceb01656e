import Foundation
import LoopbackServer
import Millpond

/// Rows that scroll away while their pictures load.
///
/// All rows of one author leave, so its download stops. One row of another author leaves, and that
/// download continues for the others.
final class Scrolling: Sendable {
  private let leaver: Author
  private let sharer: Author?
  private let pass: Pass
  private let board: Board
  private let origin: LoopbackServer
  private let gallery: Gallery
  private let url: @Sendable (Author) -> URL
  private let gone = LockedState<Set<Author>>([])

  /// Returns nil if there are too few authors to spare one.
  init?(
    _ comments: Comments, _ pass: Pass, _ board: Board, _ origin: LoopbackServer,
    _ gallery: Gallery, url: @escaping @Sendable (Author) -> URL
  ) {
    let authors = comments.authors
    guard authors.count > 1,
      let last = authors.min(by: { comments.count(by: $0) < comments.count(by: $1) })
    else { return nil }
    leaver = last
    sharer = authors.first { $0 != last && comments.count(by: $0) > 1 }
    self.pass = pass
    self.board = board
    self.origin = origin
    self.gallery = gallery
    self.url = url
  }

  /// Scrolls when the first bytes of a picture have arrived.
  func react(to progress: SignalProgress, of author: Author) {
    guard progress.completed > 0, author == leaver || author == sharer else { return }
    guard gone.withLock({ $0.insert(author).inserted }) else { return }
    if author == leaver {
      pass.scrollAway(url(author), places: .max)
    } else {
      pass.scrollAway(url(author), places: 1)
      board.note(
        "One row of \(author.name) scrolled away; others still wait, so the download continues.")
    }
  }

  /// Waits until the origin has seen the outcome of the cancelled download.
  func finish() async {
    guard gone.withLock({ $0.contains(leaver) }) else { return }
    let path = gallery.path(of: leaver)
    let closed = await origin.eventually { $0.closedBytes(of: path) != nil }
    guard closed, let bytes = origin.exchanges.closedBytes(of: path) else { return }
    board.note(
      "\(leaver.name)'s last row scrolled away: the origin saw the connection close after "
        + "\(Amounts.bytes(bytes)).")
  }
}

extension ServerSnapshot {
  fileprivate func closedBytes(of path: String) -> Int? {
    exchanges.closedBytes(of: path)
  }
}

extension [Exchange] {
  /// Returns the body bytes that were sent before the client closed the connection; nil if it did
  /// not.
  fileprivate func closedBytes(of path: String) -> Int? {
    for exchange in self where exchange.request.path == path {
      if case .clientClosed(let bytes) = exchange.outcome { return bytes }
    }
    return nil
  }
}
