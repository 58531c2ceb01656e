import Dispatch
import Foundation
import LoopbackServer
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct MediaCacheTests {
  private let scene = MediaScene()

  @Test func `a file comes from the network once, then from the disk`() async throws {
    let origin = try LoopbackServer { _ in Response(body: MediaScene.film) }
    let media = scene.media()
    let url = try origin.url("/film")

    for _ in 0..<2 {
      let file = try await media.get(url).value
      #expect(try Data(contentsOf: file.url) == Data(MediaScene.film))
      #expect(file.byteCount == MediaScene.film.count)
    }

    #expect(origin.exchanges.count == 1)
  }

  @Test func `a late joiner gets the progress at once, and the same file`() async throws {
    let hold = ResponseHold()
    let origin = try LoopbackServer { _ in
      Response(body: MediaScene.film).held(by: hold, afterBodyBytes: 50_000)
    }
    let media = scene.media()
    let url = try origin.url("/film")
    let first = Recorder<DiskFile>()
    let isInBody = Watched(false)
    first.subscribe(to: media.get(url)) { event in
      if case .progress(let progress) = event, progress.completed == 50_000 {
        isInBody.change { $0 = true }
      }
    }
    try await isInBody.wait(for: "half of it") { $0 }

    let late = Recorder<DiskFile>().subscribe(to: media.get(url))
    #expect(late.progress.last == .init(completed: 50_000, total: 200_000))
    hold.release()

    try await first.ended()
    try await late.ended()
    #expect(first.values.first === late.values.first)
    #expect(late.progress.last == .init(completed: 200_000, total: 200_000))
    #expect(origin.exchanges.count == 1)
  }

  @Test func `the transfer ends when the last one leaves, not before`() async throws {
    let origin = try LoopbackServer { _ in
      Response(body: MediaScene.film).held(by: ResponseHold(), afterBodyBytes: 50_000)
    }
    let media = scene.media()
    let url = try origin.url("/film")
    let one = Recorder<DiskFile>().subscribe(to: media.get(url))
    let other = Recorder<Void>().subscribe(to: media.prefetch([url]))
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    one.dispose()
    #expect(origin.exchanges.map(\.outcome) == [.pending])
    other.dispose()

    #expect(await origin.wasClosedByClient())
  }

  @Test func `a prefetch delivers that it is done, and the file is there afterwards`()
    async throws
  {
    let origin = try LoopbackServer { _ in Response(body: MediaScene.film) }
    let media = scene.media()
    let url = try origin.url("/film")

    let prefetch = try await Recorder<Void>.ended(media.prefetch([url]))

    #expect(prefetch.values.count == 1)
    #expect(prefetch.isCompleted)
    #expect(try await media.get(url, freshness: .cachedOnly).value.byteCount == 200_000)
  }

  @Test func `an urgent get moves a waiting prefetch forward`() async throws {
    let origin = try LoopbackServer { request in
      request.path == "/a" ? Response().held(by: ResponseHold()) : Response(body: [1])
    }
    // One of the two slots is reserved: it is free, but not for a second prefetch.
    let media = scene.media(limitedTo: 2)
    let first = Recorder<Void>().subscribe(to: media.prefetch([try origin.url("/a")]))
    #expect(await origin.eventually { $0.exchanges.count == 1 })
    let second = Recorder<Void>().subscribe(to: media.prefetch([try origin.url("/b")]))

    let visible = try await Recorder<DiskFile>.ended(
      media.get(try origin.url("/b"), priority: .high))

    try await second.ended()
    #expect(visible.values.count == 1)
    #expect(first.events.isEmpty)
    first.dispose()
  }

  @Test(arguments: [Fault.cutBody, .tooFewBytes, .serverError, .unasked206, .refused])
  func `a failed transfer leaves nothing, and gives its slot back`(fault: Fault) async throws {
    let origin = try fault.origin()
    let good = try LoopbackServer { _ in Response(body: [1]) }
    let media = scene.media(limitedTo: 1)
    let url = try #require(fault.url(at: origin))

    let answer = try await Recorder<DiskFile>.ended(media.get(url))

    #expect(answer.failure != nil)
    #expect(try await media.get(url, freshness: .cachedOnly).valueIfAny == nil)
    #expect(try await media.get(good.url("/")).value.byteCount == 1)
  }

  @Test func `a slot comes free while its file is being stored`() async throws {
    let origin = try LoopbackServer { request in
      request.path == "/film"
        ? Response(body: MediaScene.film).held(by: ResponseHold(), afterBodyBytes: 150_000)
        : Response(body: [1])
    }
    let media = scene.media(limitedTo: 1)
    let answer = Recorder<DiskFile>()
    let isStoring = Watched(false)
    answer.subscribe(to: media.get(try origin.url("/film"))) { event in
      if case .progress(let progress) = event, progress.completed == 150_000 {
        isStoring.change { $0 = true }
      }
    }
    try await isStoring.wait(for: "the storing") { $0 }

    answer.dispose()

    #expect(try await media.get(origin.url("/other")).value.byteCount == 1)
    #expect(
      await origin.eventually {
        $0.exchanges.first?.outcome == .clientClosed(bodyBytesSent: 150_000)
      })
  }

  @Test func `a reload asks the origin again, and keeps what it says`() async throws {
    let requests = Watched(0)
    let origin = try LoopbackServer { _ in
      let number = requests.change { count in
        count += 1
        return count
      }
      return Response(body: Array(repeating: 1, count: number))
    }
    let media = scene.media()
    let url = try origin.url("/film")
    _ = try await media.get(url).collect().value

    #expect(try await media.get(url, freshness: .reload).value.byteCount == 2)
    #expect(try await media.get(url).value.byteCount == 2)
  }

  @Test(arguments: [100, 200_000])
  func `a file that has just come has the validator of its origin`(byteCount: Int) async throws {
    let origin = try LoopbackServer { _ in
      Response(headers: ["ETag": "\"7\""], body: Array(MediaScene.film.prefix(byteCount)))
    }

    let stamped = try await scene.media().getStamped(origin.url("/film"), Lookup()).value

    #expect(stamped.age == .zero)
    #expect(stamped.validator?.entityTag == "\"7\"")
    #expect(stamped.value.validator?.entityTag == "\"7\"")
  }

  @Test func `a film may have more bytes than a body that is held in memory`() async throws {
    let origin = try LoopbackServer { _ in Response(body: MediaScene.film) }
    let source = HTTPSource(limits: HTTPLimits(byteLimit: 100_000))

    let film = try await scene.media(over: source).get(origin.url("/film")).value

    #expect(film.byteCount == MediaScene.film.count)
  }
}
