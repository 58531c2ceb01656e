import Foundation
import LoopbackServer
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct ResumingTests {
  @Test func `a transfer that broke off goes on where it was, in a later run too`() async throws {
    let scene = try ResumingScene()
    #expect(try await scene.get().failure != nil)

    let answer = try await scene.get()

    #expect(answer.values == [ResumingScene.value])
    #expect(answer.progress.allSatisfy { $0.completed >= 60_000 })
    #expect(answer.progress.last == .init(completed: 100_000, total: 100_000))
    let request = try #require(scene.origin.exchanges.last).request
    #expect(request.headers["Range"] == "bytes=60000-")
    #expect(request.headers["If-Range"] == "\"1\"")
    #expect(request.headers["Accept-Encoding"] == "identity")
    #expect(scene.fileNames.isEmpty)
  }

  @Test func `a transfer that was given up goes on where it was`() async throws {
    let hold = ResponseHold()
    let scene = try ResumingScene()
    let origin = try LoopbackServer { request in
      request.headers["Range"] == nil
        ? Response(headers: ["ETag": "\"1\""], body: ResumingScene.film)
          .held(by: hold, afterBodyBytes: 50_000) : ResumingScene.rest(for: request)
    }
    let partials = scene.partials()
    let source = HTTPSource(resuming: partials)
    let answer = Recorder<Data>()
    let isInBody = Watched(false)
    answer.subscribe(to: source.get(try origin.url("/"))) { event in
      if case .progress(let progress) = event, progress.completed == 50_000 {
        isInBody.change { $0 = true }
      }
    }
    try await isInBody.wait(for: "half of it") { $0 }

    answer.dispose()

    #expect(try await source.get(origin.url("/")).value == ResumingScene.value)
    #expect(origin.exchanges.map { $0.request.headers["Range"] } == [nil, "bytes=50000-"])
  }

  @Test func `a retry asks for the rest`() async throws {
    let scene = try ResumingScene()
    let source = HTTPSource(resuming: scene.partials())
      .retrying(.immediate(attempts: 2).onlyTransient)

    #expect(try await source.get(scene.origin.url("/")).value == ResumingScene.value)
    #expect(scene.ranges == [nil, "bytes=60000-"])
  }

  @Test func `a transfer that a timeout has ended is resumed`() async throws {
    let scene = try ResumingScene()
    let clock = ManualClock()
    let origin = try LoopbackServer { request in
      request.headers["Range"] == nil
        ? Response(headers: ["ETag": "\"1\""], body: ResumingScene.film)
          .held(by: ResponseHold(), afterBodyBytes: 50_000) : ResumingScene.rest(for: request)
    }
    let isGivenUp = Watched(false)
    let source = Noting(
      base: HTTPSource<URL>(
        limits: HTTPLimits(idleTimeout: .seconds(30)), resuming: scene.partials(), clock: clock),
      onFailure: { isGivenUp.change { $0 = true } }
    ).retrying(.immediate(attempts: 100).onlyTransient)
    let hasHalf = Watched(false)
    let answer = Recorder<Data>()
    answer.subscribe(to: source.get(try origin.url("/"))) { event in
      if case .progress(let progress) = event, progress.completed == 50_000 {
        hasHalf.change { $0 = true }
      }
    }

    try await hasHalf.wait(for: "half of the film") { $0 }
    // No time counts until that delivery has returned. A later attempt may be timed out as well.
    while !isGivenUp.state {
      clock.advance(by: .seconds(30))
      await Task.yield()
    }
    try await answer.ended()

    #expect(answer.values == [ResumingScene.value])
    let ranges = origin.exchanges.map { $0.request.headers["Range"] }
    #expect(ranges.prefix(2) == [nil, "bytes=50000-"] && !ranges.dropFirst().contains(nil))
  }

  @Test func `a body that breaks off again has grown`() async throws {
    let scene = try ResumingScene { request in
      let start = ResumingScene.firstByte(of: request)
      guard start < 80_000 else { return ResumingScene.rest(for: request) }
      return Response(
        status: 206,
        headers: [
          "Content-Range": "bytes \(start)-99999/100000", "Content-Length": "\(100_000 - start)",
          "ETag": "\"1\"",
        ], body: Array(ResumingScene.film[start..<start + 10_000]))
    }

    for _ in 0..<3 { #expect(try await scene.get().failure != nil) }

    #expect(try await scene.get().values == [ResumingScene.value])
    #expect(scene.ranges == [nil, "bytes=60000-", "bytes=70000-", "bytes=80000-"])
  }

  @Test func `a resource that has changed comes whole`() async throws {
    let new = Data(repeating: 7, count: 20_000)
    let scene = try ResumingScene { _ in Response(headers: ["ETag": "\"2\""], body: Array(new)) }
    try await scene.get()

    let answer = try await scene.get()

    #expect(answer.values == [new])
    #expect(scene.ranges == [nil, "bytes=60000-"])
    #expect(scene.fileNames.isEmpty)
  }

  @Test(
    arguments: [
      "bytes 59999-99999/100000", "bytes 60000-99998/100000", "bytes 60000-99999/*",
      "bytes */100000", "bytes 60000-99999/99999", "bytes 60000-100000/100000", "items 1-2/3", "",
      "bytes 60000-99999/100000, bytes 60000-99999/100000", "bytes -60000-99999/100000",
      "bytes 60000-99999999999999999999/99999999999999999999",
    ])
  func `a partial answer of the wrong range makes the source request everything, once`(
    range: String
  ) async throws {
    let scene = try ResumingScene { _ in
      Response(status: 206, headers: ["Content-Range": range], body: [1])
    }
    try await scene.get()

    let answer = try await scene.get()

    #expect(answer.values.isEmpty)
    #expect(scene.ranges == [nil, "bytes=60000-", nil])
  }

  @Test(arguments: [["ETag": "\"2\""], ["Content-Encoding": "gzip"]] as [Headers])
  func `a partial answer of another resource makes the source request everything`(headers: Headers)
    async throws
  {
    let fields = headers.fields.map { ($0.name, $0.value) }
    let scene = try ResumingScene { request in
      Response(
        status: 206, headers: Headers([("Content-Range", "bytes 60000-99999/100000")] + fields),
        body: Array(ResumingScene.film.dropFirst(60_000)))
    }
    try await scene.get()

    try await scene.get()

    #expect(scene.ranges == [nil, "bytes=60000-", nil])
  }

  @Test func `416 has all asked for`() async throws {
    let scene = try ResumingScene { _ in Response(status: 416) }
    try await scene.get()

    try await scene.get()

    #expect(scene.ranges == [nil, "bytes=60000-", nil])
  }

  @Test(arguments: [404, 410])
  func `of what is gone the beginning goes too`(status: Int) async throws {
    let scene = try ResumingScene { _ in Response(status: status) }
    try await scene.get()

    #expect(try await scene.get().failureInWords == "status \(status)")

    #expect(scene.fileNames.isEmpty)
  }

  @Test func `trouble at the origin leaves what there is`() async throws {
    let scene = try ResumingScene { _ in Response(status: 503) }
    try await scene.get()

    #expect(try await scene.get().failureInWords == "status 503")

    #expect(scene.fileNames.count == 2)
  }

  @Test(
    arguments: [
      [:], ["ETag": "W/\"1\""], ["ETag": "1"], ["ETag": "\"1\"", "Cache-Control": "no-store"],
      ["ETag": "\"1\"", "Cache-Control": "max-age=9, No-Store"],
      ["ETag": "\"1\"", "Accept-Ranges": "none"],
      ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
      [
        "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
        "Date": "Sun, 06 Nov 1994 08:49:38 GMT",
      ],
    ] as [Headers])
  func `a download that must not or cannot be resumed is not kept`(headers: Headers) async throws {
    let scene = try ResumingScene(headers)

    try await scene.get()
    try await scene.get()

    #expect(scene.ranges == [nil, nil])
    #expect(scene.fileNames.isEmpty)
  }

  @Test func `a strong date is a condition too`() async throws {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    let scene = try ResumingScene(
      ["Last-Modified": date, "Date": "Sun, 06 Nov 1994 08:50:37 GMT"],
      rest: { ResumingScene.rest(for: $0, ["Last-Modified": date]) })
    try await scene.get()

    #expect(try await scene.get().values == [ResumingScene.value])
    #expect(scene.origin.exchanges.last?.request.headers["If-Range"] == date)
  }

  @Test func `the validator of what was continued is that of its beginning`() async throws {
    let scene = try ResumingScene(["ETag": "\"1\"", "Last-Modified": "yesterday"])
    try await scene.get()

    let source = HTTPSource(resuming: scene.partials())
    let stamped = try await source.getStamped(scene.origin.url("/film"), Lookup()).value

    #expect(stamped.value == ResumingScene.value)
    #expect(stamped.validator == Validator(entityTag: "\"1\"", lastModified: "yesterday"))
  }

  @Test func `a rest that exceeds the limit fails`() async throws {
    let scene = try ResumingScene()
    try await scene.get()
    let source = HTTPSource(
      limits: HTTPLimits(byteLimit: 99_999), resuming: scene.partials())

    let answer = try await Recorder.outcome(of: source, scene.origin.url("/film"))

    #expect(answer.failureInWords == "more than 99999")
  }

  @Test func `a transfer with another URL each time is resumed by its identity`() async throws {
    let scene = try ResumingScene()
    let signatures = Watched(0)
    let url = try scene.origin.url("/")
    let source = HTTPSource(resuming: scene.partials()) { (_: Int) in
      let signature = signatures.change { count in
        count += 1
        return count
      }
      return HTTPRequest(url: url.appending(path: "\(signature)"), identity: "the film")
    }

    for _ in 0..<2 { try await Recorder<Data>().subscribe(to: source.get(1)).ended() }

    #expect(scene.origin.exchanges.map(\.request.path) == ["/1", "/2"])
    #expect(scene.ranges == [nil, "bytes=60000-"])
  }

  @Test func `credentials that are refused for the rest are renewed, and it goes on`()
    async throws
  {
    let scene = try ResumingScene { request in
      request.headers["X-Key"] == "new"
        ? ResumingScene.rest(for: request) : Response(status: 401)
    }
    let account = HTTPAuthorization(for: try scene.origin.url("/")) { refused in
      refused == nil ? ["X-Key": "old"] : ["X-Key": "new"]
    }
    let source = HTTPSource(authorization: account, resuming: scene.partials())
    let url = try scene.origin.url("/film")
    try await Recorder.outcome(of: source, url)

    #expect(try await source.get(url).value == ResumingScene.value)
    #expect(scene.ranges == [nil, "bytes=60000-", "bytes=60000-"])
  }
}

/// A source that reports each failure of its base before it passes it on.
private struct Noting<Base: Source>: Source {
  let base: Base
  let onFailure: @Sendable () -> Void

  func get(_ key: Base.Key, _ lookup: Lookup) -> Signal<Base.Value> {
    base.get(key, lookup).recover { error in
      onFailure()
      return .fail(error)
    }
  }
}
