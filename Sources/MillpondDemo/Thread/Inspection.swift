import Foundation
import Millpond
import MillpondInspector

/// A page in the browser that shows the inside of the caches.
struct Inspection: Sendable {
  private let inspector: Inspector
  private let layers: PictureLayers
  private let screen: Screen

  /// Serves the page, and says where.
  init(of layers: PictureLayers, _ screen: Screen) throws {
    self.layers = layers
    self.screen = screen
    inspector = try Inspector(
      layers.pictures, title: "Pictures of the demo", allowing: [.removing, .trimming])
    screen.write(lines: ["The inside of the caches, for a browser: \(inspector.address)", ""])
  }

  /// Keeps the caches busy until the user presses Enter.
  func stay(_ urls: [URL]) async {
    screen.write(lines: ["The page stays, and so do the readers, until you press Enter."])
    let readers = Task { await read(urls) }
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        _ = readLine()
        continuation.resume()
      }
    }
    readers.cancel()
    await readers.value
    inspector.stop()
  }

  /// Gets pictures, the first ones more often than the last ones, and some of them anew.
  private func read(_ urls: [URL]) async {
    while !Task.isCancelled, let last = urls.indices.last {
      let place = Int.random(in: 0...Int.random(in: 0...last))
      let freshness: Freshness = Int.random(in: 0..<30) == 0 ? .reload : .any
      let get = layers.pictures.get(urls[place], freshness: freshness).subscribe()
      try? await Task.sleep(for: .milliseconds(Int.random(in: 5...100)))
      // Some readers leave before the answer.
      if Int.random(in: 0..<40) == 0 { get.dispose() }
    }
  }
}
