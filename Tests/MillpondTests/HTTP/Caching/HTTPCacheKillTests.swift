import Foundation
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import Millpond

/// The contents of an HTTP cache after its process was killed between any two writes.
@Suite(.timeLimit(.minutes(10)), .heavy) struct HTTPCacheKillTests {
  private static let sizes = ["/small": 5_000, "/large": 100_000]

  private static func folder(of process: Int32) -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("millpond-http-kill-\(process)")
  }

  /// A cache over an origin whose answers have a body of their number, and that as their tag.
  private static func cache(in disk: DiskCache) -> HTTPCache {
    HTTPCache(
      over: ScriptedOrigin { request, number in
        .ok(
          "max-age=60 | ETag: \"\(number % 10)\"",
          String(repeating: "\(number % 10)", count: sizes[request.url.path()] ?? 0))
      }, in: disk)
  }

  @Test(arguments: 1...12)
  func `a response is whole or absent, and its head and body are of one version`(
    write: Int
  ) async throws {
    let folder = Self.folder(of: TestPlatform.process)
    try? FileManager.default.removeItem(at: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("\(write)".utf8).write(to: folder.appendingPathComponent("write"))
    defer { try? FileManager.default.removeItem(at: folder) }

    await #expect(processExitsWith: .signal(9)) {
      let folder = HTTPCacheKillTests.folder(of: TestPlatform.parentProcess)
      let text = try String(contentsOf: folder.appendingPathComponent("write"), encoding: .utf8)
      let rest = Locked(Int(text) ?? 0)
      let calls = FaultyCalls(before: { call in
        guard call == .write else { return }
        let isLast = rest.withLock { rest in
          rest -= 1
          return rest == 0
        }
        if isLast { TestPlatform.killThisProcess() }
      })
      let disk = DiskCache(
        directory: folder, DiskOptions(byteLimit: .mebibytes(16)), FileSystem(calls))
      let cache = HTTPCacheKillTests.cache(in: disk)
      while true {
        for path in ["/small", "/large"] {
          let request = try HTTPCacheScene.request("Cache-Control: no-cache", path: path)
          try await Recorder<HTTPPart>().subscribe(to: cache.send(request)).ended()
          try await disk.flush().value
        }
      }
    }

    let disk = DiskCache(directory: folder, byteLimit: .mebibytes(16))
    let cache = Self.cache(in: disk)
    for (path, size) in Self.sizes {
      let stored = Recorder<HTTPPart>().subscribe(
        to: cache.send(try HTTPCacheScene.request("Cache-Control: only-if-cached", path: path)))
      try await stored.ended()
      guard case .head(let head)? = stored.values.first else {
        Issue.record("no head")
        continue
      }
      if head.status == 504 { continue }
      var body = Data()
      for case .body(let bytes) in stored.values { body.append(bytes) }
      let tag = try #require(head.headers["ETag"]).dropFirst().prefix(1)
      #expect(body == Data(String(repeating: "\(tag)", count: size).utf8), "\(path)")
    }
    try await disk.close().value
  }
}
