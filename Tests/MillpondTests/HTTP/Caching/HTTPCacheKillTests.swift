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

  @Test(arguments: Array(stride(from: 1, through: 12, by: Effort.stride(2))))
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
      let disk = try HTTPCacheKillTests.diskThatKills(in: folder)
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

  // MARK: Beginnings

  private static let paths = 24

  /// A cache over an origin whose versions are a digit repeated, with that as their tag.
  ///
  /// In turn, the answer to a path breaks off, its rest breaks off, another version breaks off, and
  /// the rest of that is whole.
  private static func interruptedCache(in disk: DiskCache) -> HTTPCache {
    HTTPCache(
      over: ScriptedOrigin { request, number in
        let size = size(of: request.url)
        if let tag = request.headers["If-Range"], number % 4 != 3 {
          let rest = rest(of: request, tag)
          if number % 4 == 0 { return rest }
          return .init(
            status: 206, fields: rest.fields, body: String(rest.body.prefix(size / 4)),
            failure: URLError(.networkConnectionLost))
        }
        let version = number / 2 % 10
        return .init(
          fields: "max-age=60 | ETag: \"\(version)\" | Content-Length: \(size)",
          body: String(repeating: "\(version)", count: size * 2 / 3),
          failure: URLError(.networkConnectionLost))
      }, in: disk)
  }

  /// The rest of a version that a request asks for.
  private static func rest(of request: HTTPRequest, _ tag: String) -> ScriptedOrigin.Answer {
    let size = size(of: request.url)
    let first = Int((request.headers["Range"] ?? "").dropFirst(6).dropLast()) ?? 0
    return .status(
      206, "max-age=60 | ETag: \(tag) | Content-Range: bytes \(first)-\(size - 1)/\(size)",
      String(repeating: String(tag.dropFirst().prefix(1)), count: size - first))
  }

  /// Every other body has a file of its own.
  private static func size(of url: URL) -> Int {
    (url.path().utf8.last ?? 0) % 2 == 0 ? 6_000 : 120_000
  }

  @Test(arguments: Array(stride(from: 1, through: 16, by: Effort.stride(3))))
  func `a beginning is never served torn, and its rest is that of its version`(
    write: Int
  ) async throws {
    let folder = Self.folder(of: TestPlatform.process)
    try? FileManager.default.removeItem(at: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("\(write)".utf8).write(to: folder.appendingPathComponent("write"))
    defer { try? FileManager.default.removeItem(at: folder) }

    await #expect(processExitsWith: .signal(9)) {
      let folder = HTTPCacheKillTests.folder(of: TestPlatform.parentProcess)
      let disk = try HTTPCacheKillTests.diskThatKills(in: folder)
      let cache = HTTPCacheKillTests.interruptedCache(in: disk)
      for path in 0... {
        for _ in 0..<4 {
          let request = try HTTPCacheScene.request(path: "/\(path)")
          try await Recorder<HTTPPart>().subscribe(to: cache.send(request)).ended()
          try await disk.flush().value
        }
      }
    }

    let disk = DiskCache(directory: folder, byteLimit: .mebibytes(16))
    let origin = ScriptedOrigin { request, _ in
      request.headers["If-Range"].map { Self.rest(of: request, $0) }
        ?? .ok(
          "max-age=60 | ETag: \"0\"", String(repeating: "0", count: Self.size(of: request.url)))
    }
    let cache = HTTPCache(over: origin, in: disk)
    for path in 0..<Self.paths {
      for fields in ["only-if-cached", "", "only-if-cached"] {
        let parts = Recorder<HTTPPart>().subscribe(
          to: cache.send(try HTTPCacheScene.request(fields, path: "/\(path)")))
        try await parts.ended()
        guard case .head(let head)? = parts.values.first else {
          Issue.record("no head")
          continue
        }
        if head.status == 504, !fields.isEmpty { continue }
        #expect(head.status == 200)
        let tag = try #require(head.headers["ETag"]).dropFirst().prefix(1)
        let size = Self.size(of: try HTTPCacheScene.request(path: "/\(path)").url)
        #expect(
          parts.values.joinedBody == Data(String(repeating: "\(tag)", count: size).utf8),
          "/\(path) \(fields)")
      }
    }
    try await disk.close().value
  }

  /// A disk cache whose process dies before the write whose number is in the folder.
  private static func diskThatKills(in folder: URL) throws -> DiskCache {
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
    return DiskCache(directory: folder, DiskOptions(byteLimit: .mebibytes(16)), FileSystem(calls))
  }
}
