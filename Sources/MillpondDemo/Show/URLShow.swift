import Foundation
import Millpond

/// A show of real URLs, fetched from their own origins.
struct URLShow: Sendable {
  private let layers: PictureLayers
  private let currentBoard: CurrentBoard

  init(folder: URL, currentBoard: CurrentBoard) {
    layers = PictureLayers(folder: folder, diskKey: \.absoluteString)
    self.currentBoard = currentBoard
  }

  /// - Returns: The number of URLs that could not be loaded.
  func run(_ urls: [URL]) async -> Int {
    let screen = Screen.standardOutput()
    await layers.reportTrouble(on: screen)
    let interruption = Interruption(leaving: layers, currentBoard)
    let table = LockedState(SummaryTable(layers: PictureLayers.names))
    let pass = Pass(layers, currentBoard.open("Fetching \(urls.count)", on: screen), table)
    for url in urls { pass.ask(for: url, label: url.absoluteString, places: 1) }
    await pass.finish()
    currentBoard.close()
    _ = try? await layers.disk.flush()
    withExtendedLifetime(interruption) {}
    screen.write(lines: table.withLock { $0.lines(screen) })
    return pass.failureCount
  }
}
