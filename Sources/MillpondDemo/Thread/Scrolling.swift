import Foundation
import LoopbackServer
import Millpond

/// Rows that scroll away while their pictures load.
///
/// All rows of one author leave, so its download stops. One row of another author leaves, and that
/// download continues for the others.
final class Scrolling: Sendable {
  private let leaver: Author?
  private let sharer: Author?
  private let pass: Pass
  private let board: Board
  private let origin: LoopbackServer
  private let url: @Sendable (Author) -> URL
  private let gone = Locked<Set<Author>>([])

  init(
    _ authors: [Author], _ pass: Pass, _ board: Board, _ origin: LoopbackServer,
    url: @escaping @Sendable (Author) -> URL
  ) {
    // With a single author, nobody can be spared.
    leaver = authors.count > 1 ? authors.last : nil
    sharer = authors.first { $0.count > 1 && $0 != authors.last }
    (self.pass, self.board, self.origin, self.url) = (pass, board, origin, url)
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
    guard let leaver, gone.withLock({ $0.contains(leaver) }) else { return }
    let closedBytes = { @Sendable (exchanges: [Exchange]) -> Int? in
      for exchange in exchanges where exchange.request.path == leaver.path {
        if case .clientClosed(let bytes) = exchange.outcome { return bytes }
      }
      return nil
    }
    _ = await origin.eventually { closedBytes($0.exchanges) != nil }
    guard let bytes = closedBytes(origin.exchanges) else { return }
    board.note(
      "\(leaver.name)'s last row scrolled away: the origin saw the connection close after "
        + "\(Amounts.bytes(bytes)).")
  }
}
