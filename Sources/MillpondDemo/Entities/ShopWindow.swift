import Millpond
import MillpondEntities

/// The shop on the screen, redrawn from the store for every notice, in place or as lines.
final class ShopWindow: Sendable {
  private let store: EntityStore
  private let screen: Screen
  private let drawn = LockedState(0)

  init(_ store: EntityStore, _ screen: Screen) {
    self.store = store
    self.screen = screen
  }

  /// Shows a notice: everything in place, or the changed lines if the screen is not live.
  func show(_ change: EntityChange<Shop>) {
    let lines = (change.value?.shelf ?? []).compactMap { line($0, change) }
    if screen.isLive {
      let above = drawn.withLock { drawn in
        defer { drawn = lines.count }
        return drawn
      }
      let frame = lines.map { $0.text + ANSI.lineEnd }.joined()
      screen.write(ANSI.up(above) + frame + ANSI.clearBelow)
    } else {
      let causes = change.causes.map(\.description).joined(separator: ", ")
      let touched = lines.filter(\.isTouched).map { "    " + $0.text }
      screen.write(
        lines: ["  one notice, caused by \(causes.isEmpty ? "the subscription" : causes)"] + touched
      )
    }
  }

  /// Writes the next event above the shop.
  func announce(_ text: String) {
    if screen.isLive {
      let above = drawn.withLock { drawn in
        defer { drawn = 0 }
        return drawn
      }
      screen.write(ANSI.up(above) + ANSI.clearBelow)
    }
    screen.write(lines: ["", screen.style.painted(text, .title)])
  }

  /// Returns the line of a book; nil without the book.
  private func line(
    _ reference: Reference<Book>, _ change: EntityChange<Shop>
  ) -> (text: String, isTouched: Bool)? {
    guard let book = store.get(reference) else { return nil }
    let writer = book.author.flatMap { store.get($0) }
    let isTouched =
      change.isCaused(by: reference) || book.author.map { change.isCaused(by: $0) } ?? false
    let title = (book.title ?? "?").fitted(to: 19)
    let name = (writer?.name ?? "?").fitted(to: 18)
    let year = (book.year.map { "\($0)" } ?? "").fitted(to: 6)
    let text = "\(title)\(name)\(year)\(book.sold ?? 0) sold"
    return (screen.style.painted(text, isTouched ? .fromMemory : nil), isTouched)
  }
}
