import Dispatch
import Foundation
import LoopbackServer
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct MediaCacheWritingTests {
  private let scene = MediaScene()

  @Test func `a file that is held stays when it is removed`() async throws {
    let origin = try LoopbackServer { _ in Response(body: MediaScene.film) }
    let media = scene.media()
    let url = try origin.url("/film")
    let file = try await media.get(url).value

    try await media.remove(url).value

    #expect(try Data(contentsOf: file.url) == Data(MediaScene.film))
    #expect(try await media.get(url, freshness: .cachedOnly).valueIfAny == nil)
  }

  @Test func `a file removed during its download is not stored`() async throws {
    let hold = ResponseHold()
    let origin = try LoopbackServer { _ in
      Response(body: MediaScene.film).held(by: hold, afterBodyBytes: 50_000)
    }
    let media = scene.media()
    let url = try origin.url("/film")
    let answer = Recorder<DiskFile>().subscribe(to: media.get(url))
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    media.remove(url)
    hold.release()

    try await answer.ended()
    let file = try #require(answer.values.first)
    #expect(try Data(contentsOf: file.url) == Data(MediaScene.film))
    #expect(try await media.get(url, freshness: .cachedOnly).valueIfAny == nil)
  }

  @Test func `the file of a key removed during its download exists as long as it is referenced`()
    async throws
  {
    let hold = ResponseHold()
    let origin = try LoopbackServer { _ in
      Response(body: MediaScene.film).held(by: hold, afterBodyBytes: 50_000)
    }
    let media = scene.media()
    let url = try origin.url("/film")
    try await {
      let answer = Recorder<DiskFile>().subscribe(to: media.get(url))
      #expect(await origin.eventually { $0.exchanges.count == 1 })
      media.remove(url)
      hold.release()
      try await answer.ended()
      #expect(scene.valueNames.count == 1)
    }()

    // A thread of the cache removes it without any report.
    while !scene.valueNames.isEmpty {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  @Test func `a file that is set during another's download wins`() async throws {
    let hold = ResponseHold()
    let origin = try LoopbackServer { request in
      request.path == "/other"
        ? Response(body: [1, 2, 3])
        : Response(body: MediaScene.film).held(by: hold, afterBodyBytes: 50_000)
    }
    let media = scene.media()
    let url = try origin.url("/film")
    let other = try await media.get(origin.url("/other")).value
    let answer = Recorder<DiskFile>().subscribe(to: media.get(url))
    #expect(await origin.eventually { $0.requestCount(path: "/film") == 1 })

    try await media.set(other, for: url).value
    hold.release()

    try await answer.ended()
    #expect(answer.values.first?.byteCount == MediaScene.film.count)
    #expect(try await media.get(url).value.byteCount == 3)
  }

  @Test func `a value without room reaches its caller, and is not stored`() async throws {
    let origin = try LoopbackServer { _ in Response(body: MediaScene.film) }
    // Room for one of them, and that one is held.
    let media = scene.media(byteLimit: 350_000)
    let held = try await media.get(origin.url("/held")).value

    let answer = try await Recorder<DiskFile>.ended(media.get(origin.url("/film")))

    let file = try #require(answer.values.first)
    #expect(try Data(contentsOf: file.url) == Data(MediaScene.film))
    #expect(held.byteCount == MediaScene.film.count)
    #expect(origin.exchanges.count == 2)
  }

  @Test func `a file that is set is copied`() async throws {
    let origin = try LoopbackServer { _ in Response(body: MediaScene.film) }
    let media = scene.media()
    let url = try origin.url("/film")
    let other = try origin.url("/other")
    let file = try await media.get(url).value

    try await media.set(file, for: other).value

    #expect(try await media.get(other).value.byteCount == 200_000)
    #expect(origin.exchanges.count == 1)
  }

  @Test(arguments: [true, false])
  func `a value larger than its cache fails before its bytes come, if its size is known`(
    isKnown: Bool
  ) async throws {
    let transport = TestTransport()
    let media = scene.media(byteLimit: 100_000, over: HTTPSource(transport: transport))
    let url = try #require(URL(string: "http://a/film"))
    let answer = Recorder<DiskFile>().subscribe(to: media.get(url))
    try await transport.source.subscriptions(count: 1)

    let headers: HeaderFields = isKnown ? ["Content-Length": "200000"] : [:]
    transport.source.next(.head(HTTPHead(status: 200, headers: headers)))
    if !isKnown { transport.source.next(.body(Data(MediaScene.film))) }

    try await answer.ended()
    #expect(answer.failureInWords?.hasPrefix("more than ") == true)
    #expect(scene.valueNames.isEmpty)
  }
}
