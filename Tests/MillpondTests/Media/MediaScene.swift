import Foundation
import MillpondTesting
import Testing

@testable import Millpond

/// The error of a value that cannot be decoded.
struct Unreadable: Error {}

/// A fresh folder for a media cache, which is removed after the test.
final class MediaScene: Sendable {
  static let film = (0..<200_000).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 3) }

  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-\(UUID().uuidString)")

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  func media(
    limitedTo limit: Int = 4, byteLimit: Int = .mebibytes(16),
    over source: HTTPSource<URL> = HTTPSource(), _ change: (inout DiskOptions) -> Void = { _ in }
  ) -> MediaCache<URL> {
    var options = DiskOptions(byteLimit: byteLimit)
    change(&options)
    return MediaCache(
      DiskCache(directory: folder, options), over: source, limitedTo: limit,
      name: \.absoluteString)
  }

  var valueNames: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(FileName.valueSuffix) }
  }
}

extension Recorder {
  /// Subscribes, and waits for the end.
  static func ended(_ signal: Signal<Value>) async throws -> Recorder {
    let recorder = Recorder().subscribe(to: signal)
    try await recorder.ended()
    #expect(recorder.violations.isEmpty)
    return recorder
  }
}
