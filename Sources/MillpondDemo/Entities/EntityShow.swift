import Foundation
import Millpond
import MillpondEntities

/// A shop with several writers, and a screen that stays up to date by one subscription.
struct EntityShow: Sendable {
  private let store = EntityStore()
  private let screen: Screen
  private let window: ShopWindow

  init(_ screen: Screen) {
    self.screen = screen
    window = ShopWindow(store, screen)
  }

  func run() async throws {
    let notices = LockedState(0)
    let subscription = store.signal(of: Library.shop).subscribe(onNext: { change in
      notices.withLock { $0 += 1 }
      window.show(change)
    })
    for (text, act) in acts {
      window.announce(text)
      try await act()
      try await pause()
    }
    subscription.dispose()
    let count = notices.withLock { $0 }
    screen.write(lines: ["", "The screen received \(count) notices, and never polled."])
  }

  private typealias Act = @Sendable () async throws -> Void

  private var acts: [(String, Act)] {
    [
      ("Books and authors arrive in one transaction.", { stock() }),
      ("Four tills sell books at the same time; no sale is lost.", { try await sell() }),
      (
        "Mary Godwin marries: one entity changes, and all her books show it.",
        { store.set(Writer(id: "mary", name: "Mary Shelley")) }
      ),
      (
        "A catalogue answers with the years, which are merged into the books.",
        { try await completeYears() }
      ),
      ("A transaction fails half-way, and changes nothing.", { failHalfWay() }),
      ("A book is withdrawn.", { store.remove(Reference<Book>(4)) }),
    ]
  }

  private func stock() {
    store.update { library in
      for writer in Library.writers { library.set(writer) }
      for book in Library.books { library.set(book) }
      library.set(Shop(id: Library.shop.id, shelf: Library.books.map(\.reference)))
    }
  }

  private func sell() async throws {
    try await withThrowingTaskGroup { tills in
      for till in 0..<4 {
        tills.addTask {
          for sale in 0..<3 {
            sellOne(Reference<Book>((till * 2 + sale) % 5 + 1))
            try await pause(.milliseconds(60))
          }
        }
      }
      try await tills.waitForAll()
    }
  }

  private func sellOne(_ book: Reference<Book>) {
    store.update { library in
      let sold = library.get(book)?.sold ?? 0
      library.set(Book(id: book.id, sold: sold + 1))
    }
  }

  private func completeYears() async throws {
    let catalogue = Catalogue().through(store)
    for book in Library.books { _ = try await catalogue.get(book.id).value }
  }

  private func failHalfWay() {
    try? store.update { library in
      library.removeAll(of: Book.self)
      throw CancellationError()
    }
  }

  private func pause(_ duration: Duration = .milliseconds(700)) async throws {
    if screen.isLive { try await Task.sleep(for: duration) }
  }
}
