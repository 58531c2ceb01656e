import Foundation
import LoopbackServer
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct MediaResumingTests {
  private static let film = MediaResumingScene.film

  @Test func `a file that broke off goes on where it was, in a later run too`() async throws {
    let scene = try MediaResumingScene()
    #expect(try await scene.get().failure != nil)
    #expect(scene.valueNames.isEmpty)
    #expect(scene.beginningNames.count == 2)

    let answer = try await scene.get()

    #expect(answer.bytes == Self.film)
    #expect(answer.progress.allSatisfy { $0.completed >= MediaResumingScene.kept })
    #expect(scene.ranges == [nil, "bytes=524288-"])
    #expect(scene.origin.exchanges.last?.request.headers["If-Range"] == "\"1\"")
    #expect(scene.beginningNames.isEmpty)
    #expect(
      try await scene.disk().get(scene.origin.url("/film").absoluteString).value == Data(Self.film))
  }

  @Test func `a file that was left goes on where it was`() async throws {
    let hold = ResponseHold()
    let scene = try MediaResumingScene()
    let origin = try LoopbackServer { request in
      request.headers["Range"] == nil
        ? Response(headers: ["ETag": "\"1\""], body: Self.film).held(
          by: hold, afterBodyBytes: 600_000)
        : MediaResumingScene.rest(for: request)
    }
    let media = scene.media()
    let answer = Recorder<DiskFile>()
    let isInBody = Watched(false)
    answer.subscribe(to: media.get(try origin.url("/film"))) { event in
      if case .progress(let progress) = event, progress.completed == 600_000 {
        isInBody.change { $0 = true }
      }
    }
    try await isInBody.wait(for: "half of it") { $0 }

    answer.dispose()
    // The stream's own thread moves it without any report.
    while scene.beginningNames.isEmpty {
      try Task.checkCancellation()
      await Task.yield()
    }

    #expect(try await Recorder.ended(media.get(origin.url("/film"))).bytes == Self.film)
    #expect(origin.exchanges.map { $0.request.headers["Range"] } == [nil, "bytes=524288-"])
  }

  @Test func `a body that breaks off again has grown`() async throws {
    let scene = try MediaResumingScene { request in
      MediaResumingScene.rest(
        for: request, upTo: request.headers["Range"] == "bytes=524288-" ? 800_000 : 1_000_000)
    }
    for _ in 0..<2 { #expect(try await scene.get().failure != nil) }

    #expect(try await scene.get().bytes == Self.film)
    #expect(scene.ranges == [nil, "bytes=524288-", "bytes=786432-"])
  }

  @Test func `a file that has changed comes whole`() async throws {
    let new = [UInt8](repeating: 7, count: 300_000)
    let scene = try MediaResumingScene { _ in Response(headers: ["ETag": "\"2\""], body: new) }
    try await scene.get()

    #expect(try await scene.get().bytes == new)
    #expect(scene.ranges == [nil, "bytes=524288-"])
    #expect(scene.beginningNames.isEmpty)
  }

  @Test(arguments: [206, 416])
  func `a partial answer of the wrong range makes the cache request everything, once`(status: Int)
    async throws
  {
    let scene = try MediaResumingScene { _ in
      Response(status: status, headers: ["Content-Range": "bytes 5-9/10"], body: [1])
    }
    try await scene.get()

    #expect(try await scene.get().bytes == Self.film)
    #expect(scene.ranges == [nil, "bytes=524288-", nil])
    #expect(scene.beginningNames.isEmpty)
  }

  @Test func `trouble at the origin leaves what there is`() async throws {
    let scene = try MediaResumingScene { _ in Response(status: 503) }
    let partials = scene.partials()
    try await scene.get(nil, partials)

    for _ in 0..<2 { #expect(try await scene.get(nil, partials).failureInWords == "status 503") }

    #expect(scene.ranges == [nil, "bytes=524288-", "bytes=524288-"])
    #expect(scene.beginningNames.count == 2)
  }

  @Test func `of what is gone the beginning goes too`() async throws {
    let scene = try MediaResumingScene { _ in Response(status: 404) }
    let partials = scene.partials()
    try await scene.get(nil, partials)

    #expect(try await scene.get(nil, partials).failureInWords == "status 404")

    try await partials.flush().value
    #expect(scene.beginningNames.isEmpty)
  }

  @Test(arguments: [0, 300_000, 524_287])
  func `damaged first bytes are detected, and the whole is requested`(place: Int) async throws {
    let scene = try MediaResumingScene()
    try await scene.get()
    let file = scene.beginnings.appendingPathComponent(try #require(scene.beginningNames.first))
    var bytes = try Data(contentsOf: file)
    bytes[place] ^= 1
    try bytes.write(to: file)

    #expect(try await scene.get().bytes == Self.film)
    #expect(scene.ranges == [nil, "bytes=524288-", nil])
    #expect(scene.beginningNames.isEmpty)
  }

  @Test func `a file that lost its tail is no beginning`() async throws {
    let scene = try MediaResumingScene()
    try await scene.get()
    let file = scene.beginnings.appendingPathComponent(try #require(scene.beginningNames.first))
    try Data(contentsOf: file).dropLast().write(to: file)

    #expect(try await scene.get().bytes == Self.film)
    #expect(scene.ranges == [nil, nil])
  }

  @Test func `a body larger than the limit is not kept`() async throws {
    let scene = try MediaResumingScene()
    try await scene.get(nil, scene.partials(byteLimit: 500_000))

    #expect(scene.beginningNames.isEmpty)
    #expect(scene.valueNames.isEmpty)
    #expect(try await scene.get().bytes == Self.film)
  }

  @Test func `after the removal of all nothing is resumed`() async throws {
    let scene = try MediaResumingScene()
    let partials = scene.partials()
    try await scene.get(nil, partials)

    try await partials.removeAll().value

    #expect(scene.beginningNames.isEmpty)
    #expect(try await scene.get(nil, partials).bytes == Self.film)
    #expect(scene.ranges == [nil, nil])
  }

  @Test(
    arguments: [[:], ["ETag": "W/\"1\""], ["ETag": "\"1\"", "Cache-Control": "no-store"]]
      as [Headers])
  func `a download that must not or cannot be resumed is not kept`(headers: Headers) async throws {
    let scene = try MediaResumingScene(headers)
    try await scene.get()

    #expect(scene.beginningNames.isEmpty)
    #expect(scene.valueNames.isEmpty)
  }

  @Test func `of what is sealed nothing is kept elsewhere, nor resumed`() async throws {
    let sealing = DiskSealing(
      seal: { value, _ in Data(value.reversed()) }, open: { sealed, _ in Data(sealed.reversed()) })
    let scene = try MediaResumingScene()
    let disk = scene.disk(sealing: sealing)
    try await scene.get(disk)
    #expect(scene.beginningNames.isEmpty)

    #expect(try await scene.get(disk).bytes == Self.film)
  }

  @Test func `two that ask for one resource under two names do not share its beginning`()
    async throws
  {
    let scene = try MediaResumingScene()
    let partials = scene.partials()
    try await scene.get(nil, partials)
    let source = MediaResumingScene.source(partials)
    let url = try scene.origin.url("/film")
    let disk = scene.disk()
    let media = MediaCache(disk, over: source, limitedTo: 4) { (url: URL) in "a \(url)" }
    let others = MediaCache(disk, over: source, limitedTo: 4) { (url: URL) in "b \(url)" }

    let first = Recorder<DiskFile>().subscribe(to: media.get(url))
    let second = Recorder<DiskFile>().subscribe(to: others.get(url))

    for answer in [first, second] {
      try await answer.ended()
      #expect(answer.bytes == Self.film)
    }
    #expect(scene.ranges.count { $0 != nil } == 1)
  }
}
