/// The board on the screen, which Ctrl-C has to finish.
final class CurrentBoard: Sendable {
  private let current = LockedState<Board?>(nil)

  func open(_ title: String, on screen: Screen) -> Board {
    let board = Board(title: title, on: screen)
    current.withLock { $0 = board }
    return board
  }

  func close() {
    let board = current.withLock { board in
      defer { board = nil }
      return board
    }
    board?.finish()
  }
}
