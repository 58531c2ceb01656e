import Foundation
import Millpond

/// A show of real URLs, fetched from their own origins.
struct URLShow: Sendable {
  private let layers: Layers
  private let keeper: BoardKeeper

  init(folder: URL, keeper: BoardKeeper) {
    layers = Layers(folder: folder, diskKey: \.absoluteString)
    self.keeper = keeper
  }

  /// - Returns: The number of URLs that could not be loaded.
  func run(_ urls: [URL]) async -> Int {
    let screen = Screen.standardOutput()
    await layers.reportTrouble(on: screen)
    let interruption = Interruption(leaving: layers, keeper)
    let table = Guarded(SummaryTable(layers: Layers.names))
    let pass = Pass(layers, keeper.open("Fetching \(urls.count)", on: screen), table)
    for url in urls { pass.ask(for: url, label: url.absoluteString, places: 1) }
    await pass.finish()
    keeper.close()
    _ = try? await layers.disk.flush().value
    withExtendedLifetime(interruption) {}
    screen.write(lines: table.withLock { $0.lines(screen.look) })
    return pass.failureCount
  }
}
