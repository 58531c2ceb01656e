import Foundation

/// A fresh folder, which is removed after the test.
final class GuideScene: Sendable {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-\(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(at: folder) }
}
