import Dispatch
import Foundation
import LoopbackServer
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct MediaCacheTests {
  private static let film = (0..<200_000).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 3) }

  private let scene = MediaScene()

  @Test func `a file comes from the network once, then from the disk`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Self.film) }
    let media = scene.media()
    let url = try origin.url("/film")

    for _ in 0..<2 {
      let file = try await media.get(url).value
      #expect(try Data(contentsOf: file.url) == Data(Self.film))
      #expect(file.byteCount == Self.film.count)
    }

    #expect(origin.exchanges.count == 1)
  }

  @Test func `a file that is held stays when it is removed`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Self.film) }
    let media = scene.media()
    let url = try origin.url("/film")
    let file = try await media.get(url).value

    try await media.remove(url).value

    #expect(try Data(contentsOf: file.url) == Data(Self.film))
    #expect(try await media.get(url, freshness: .cachedOnly).valueIfAny == nil)
  }

  @Test func `who joins late gets the progress at once, and the same file`() async throws {
    let hold = Hold()
    let origin = try LoopbackServer { _ in
      Response(body: Self.film).held(by: hold, afterBodyBytes: 50_000)
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
      Response(body: Self.film).held(by: Hold(), afterBodyBytes: 50_000)
    }
    let media = scene.media()
    let url = try origin.url("/film")
    let one = Recorder<DiskFile>().subscribe(to: media.get(url))
    let other = Recorder<Void>().subscribe(to: media.prefetch(url))
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    one.dispose()
    #expect(origin.exchanges.map(\.outcome) == [.pending])
    other.dispose()

    #expect(await origin.wasClosedByClient())
  }

  @Test func `a prefetch delivers nothing, and the file is there afterwards`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Self.film) }
    let media = scene.media()
    let url = try origin.url("/film")

    let prefetch = try await Recorder<Void>.ended(media.prefetch(url))

    #expect(prefetch.values.isEmpty)
    #expect(prefetch.isCompleted)
    #expect(try await media.get(url, freshness: .cachedOnly).value.byteCount == 200_000)
  }

  @Test func `a visible ask brings a prefetch that waits forward`() async throws {
    let origin = try LoopbackServer { request in
      request.path == "/a" ? Response().held(by: Hold()) : Response(body: [1])
    }
    // One of the two slots is reserved: it is free, but not for a second prefetch.
    let media = scene.media(limitedTo: 2)
    let first = Recorder<Void>().subscribe(to: media.prefetch(try origin.url("/a")))
    #expect(await origin.eventually { $0.exchanges.count == 1 })
    let second = Recorder<Void>().subscribe(to: media.prefetch(try origin.url("/b")))

    let visible = try await Recorder<DiskFile>.ended(
      media.get(try origin.url("/b"), priority: .high))

    try await second.ended()
    #expect(visible.values.count == 1)
    #expect(first.events.isEmpty)
    first.dispose()
  }

  @Test(arguments: [Fault.cutBody, .tooFewBytes, .serverError, .unasked206, .refused])
  func `what fails leaves nothing, and gives its slot back`(fault: Fault) async throws {
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
        ? Response(body: Self.film).held(by: Hold(), afterBodyBytes: 150_000)
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

  @Test func `a file removed during its download is not stored`() async throws {
    let hold = Hold()
    let origin = try LoopbackServer { _ in
      Response(body: Self.film).held(by: hold, afterBodyBytes: 50_000)
    }
    let media = scene.media()
    let url = try origin.url("/film")
    let answer = Recorder<DiskFile>().subscribe(to: media.get(url))
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    media.remove(url)
    hold.release()

    try await answer.ended()
    let file = try #require(answer.values.first)
    #expect(try Data(contentsOf: file.url) == Data(Self.film))
    #expect(try await media.get(url, freshness: .cachedOnly).valueIfAny == nil)
  }

  @Test func `the file of a key removed during its download exists as long as it is referenced`()
    async throws
  {
    let hold = Hold()
    let origin = try LoopbackServer { _ in
      Response(body: Self.film).held(by: hold, afterBodyBytes: 50_000)
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
    let hold = Hold()
    let origin = try LoopbackServer { request in
      request.path == "/other"
        ? Response(body: [1, 2, 3])
        : Response(body: Self.film).held(by: hold, afterBodyBytes: 50_000)
    }
    let media = scene.media()
    let url = try origin.url("/film")
    let other = try await media.get(origin.url("/other")).value
    let answer = Recorder<DiskFile>().subscribe(to: media.get(url))
    #expect(await origin.eventually { $0.requestCount(path: "/film") == 1 })

    try await media.set(other, for: url).value
    hold.release()

    try await answer.ended()
    #expect(answer.values.first?.byteCount == Self.film.count)
    #expect(try await media.get(url).value.byteCount == 3)
  }

  @Test func `what there is no room for reaches who asked, and is not kept`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Self.film) }
    // Room for one of them, and that one is held.
    let media = scene.media(byteLimit: 350_000)
    let held = try await media.get(origin.url("/held")).value

    let answer = try await Recorder<DiskFile>.ended(media.get(origin.url("/film")))

    let file = try #require(answer.values.first)
    #expect(try Data(contentsOf: file.url) == Data(Self.film))
    #expect(held.byteCount == Self.film.count)
    #expect(origin.exchanges.count == 2)
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

  @Test func `a file that is set is copied`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Self.film) }
    let media = scene.media()
    let url = try origin.url("/film")
    let other = try origin.url("/other")
    let file = try await media.get(url).value

    try await media.set(file, for: other).value

    #expect(try await media.get(other).value.byteCount == 200_000)
    #expect(origin.exchanges.count == 1)
  }

  @Test func `what is decoded has the bytes of the file, and its age`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Self.film) }
    let media = scene.media()
    let url = try origin.url("/film")
    let cache = MemoryCache<URL, Int>(countLimit: 10).layered(over: media.decoding { $0.count })

    #expect(try await cache.get(url).value == 200_000)
    #expect(try await cache.get(url).value == 200_000)
    #expect(origin.exchanges.count == 1)
  }

  @Test func `what an origin sent and can't be decoded fails as it was thrown, and is not kept`()
    async throws
  {
    let origin = try LoopbackServer { _ in Response(body: Self.film) }
    let media = scene.media()
    let url = try origin.url("/film")
    let decoded = media.decoding { _ -> Int in throw Unreadable() }

    await #expect(throws: Unreadable.self) { try await decoded.get(url).value }

    #expect(try await media.get(url, freshness: .cachedOnly).valueIfAny == nil)
    #expect(origin.exchanges.count == 1)
  }

  @Test(arguments: [10, 200_000])
  func `a stored file that can't be decoded is a miss, and the origin is asked again`(
    byteCount: Int
  ) async throws {
    let page = Array("Please log in".utf8)
    let isBehindPortal = Watched(true)
    let origin = try LoopbackServer { _ in
      Response(body: isBehindPortal.state ? page : Array(Self.film.prefix(byteCount)))
    }
    let media = scene.media()
    let url = try origin.url("/film")
    _ = try await media.get(url).collect().value
    isBehindPortal.change { $0 = false }
    let decoded = media.decoding { data -> Int in
      if data == Data(page) { throw Unreadable() }
      return data.count
    }

    #expect(try await decoded.get(url, freshness: .cachedOnly).valueIfAny == nil)
    _ = try await media.get(url).collect().value
    for _ in 0..<2 { #expect(try await decoded.get(url).value == byteCount) }

    #expect(origin.exchanges.count == 2)
  }

  @Test func `a page that an origin sends again and again is asked for once by each get`()
    async throws
  {
    let origin = try LoopbackServer { _ in Response(body: Self.film) }
    let media = scene.media()
    let url = try origin.url("/film")
    _ = try await media.get(url).collect().value
    let decoded = media.decoding { _ -> Int in throw Unreadable() }

    for number in 2...3 {
      await #expect(throws: Unreadable.self) { try await decoded.get(url).value }
      #expect(origin.exchanges.count == number)
    }
  }

  @Test func `a file that is set while another is found undecodable stays`() async throws {
    let origin = try LoopbackServer { request in
      Response(body: Array(request.path.utf8))
    }
    let media = scene.media()
    let url = try origin.url("/film")
    let other = try await media.get(origin.url("/other")).value
    _ = try await media.get(url).collect().value
    let decoded = media.decoding { data -> String in
      let text = String(decoding: data, as: UTF8.self)
      guard text == "/film" else { return text }
      media.set(other, for: url)
      throw Unreadable()
    }

    #expect(try await decoded.get(url).value == "/other")
    #expect(try await media.get(url, freshness: .cachedOnly).value.byteCount == 6)
  }

  @Test func `a stored file has its age and its validator, also where it is asked for as a value`()
    async throws
  {
    let time = Watched(WallTime(microseconds: 1_000_000_000_000_000))
    let origin = try LoopbackServer { _ in
      Response(headers: ["ETag": "\"7\""], body: Self.film)
    }
    let media = scene.media { $0.now = { time.state } }
    let url = try origin.url("/film")
    _ = try await media.get(url).collect().value
    time.change { $0 = WallTime(microseconds: $0.microseconds + 5_000_000) }

    let stamped = try await media.getStamped(url, Lookup()).value

    #expect(stamped.age == .seconds(5))
    #expect(stamped.validator?.entityTag == "\"7\"")
    #expect(stamped.value.validator?.entityTag == "\"7\"")
    let layer = MemoryCache<URL, DiskFile>(countLimit: 1, timeToLive: .after(.seconds(5)))
    #expect(try await layer.layered(over: media).get(url).value.byteCount == 200_000)
    #expect(try await layer.get(url).valueIfAny == nil)
  }

  @Test func `nothing is decoded for a caller who left while the file was looked for`()
    async throws
  {
    let leaver = Recorder<Int>()
    let isArmed = Watched(false)
    let calls = FaultyCalls { call in
      if call == .open, isArmed.state { leaver.dispose() }
    }
    let disk = DiskCache(
      directory: scene.folder, DiskOptions(byteLimit: .mebibytes(16)), FileSystem(calls))
    let media = MediaCache(disk, over: HTTPSource(), limitedTo: 1, name: \.absoluteString)
    let url = try #require(URL(string: "http://a/film"))
    try await disk.set(Data(Self.film), for: url.absoluteString).value
    let decodings = Watched(0)
    let decoded = media.decoding { data in
      decodings.change { $0 += 1 }
      return data.count
    }
    isArmed.change { $0 = true }

    leaver.subscribe(to: decoded.get(url))

    // The same thread looks for this one after it.
    _ = try await media.get(url).collect().value
    #expect(leaver.events.isEmpty)
    #expect(decodings.state == 0)
  }

  @Test func `no file is opened for a caller who left before it was looked for`() async throws {
    let gate = DispatchSemaphore(value: 0)
    let looked = Watched(0)
    let isArmed = Watched(false)
    let calls = FaultyCalls { call in
      guard call == .open, isArmed.state else { return }
      let isFirst = looked.change { looked in
        looked += 1
        return looked == 1
      }
      if isFirst { gate.wait() }
    }
    let disk = DiskCache(
      directory: scene.folder, DiskOptions(byteLimit: .mebibytes(16)), FileSystem(calls))
    try await disk.set(Data(Self.film), for: "film").value
    isArmed.change { $0 = true }
    let first = Recorder<DiskFile>().subscribe(to: disk.file(for: "film"))
    try await looked.wait(for: "the first look") { $0 == 1 }

    let leaver = Recorder<DiskFile>().subscribe(to: disk.file(for: "film"))
    leaver.dispose()
    gate.signal()
    try await first.ended()
    _ = try await disk.file(for: "film").value

    #expect(looked.state == 2)
  }

  @Test(arguments: [100, 200_000])
  func `a file that has just come has the validator of its origin`(byteCount: Int) async throws {
    let origin = try LoopbackServer { _ in
      Response(headers: ["ETag": "\"7\""], body: Array(Self.film.prefix(byteCount)))
    }

    let stamped = try await scene.media().getStamped(origin.url("/film"), Lookup()).value

    #expect(stamped.age == .zero)
    #expect(stamped.validator?.entityTag == "\"7\"")
    #expect(stamped.value.validator?.entityTag == "\"7\"")
  }

  @Test func `a film may have more bytes than a body that is held in memory`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Self.film) }
    let source = HTTPSource(limits: HTTPLimits(byteLimit: 100_000))

    let film = try await scene.media(over: source).get(origin.url("/film")).value

    #expect(film.byteCount == Self.film.count)
  }

  @Test(arguments: [true, false])
  func `what is larger than its cache fails before its bytes come, if its size is known`(
    isKnown: Bool
  ) async throws {
    let transport = TestTransport()
    let media = scene.media(byteLimit: 100_000, over: HTTPSource(transport: transport))
    let url = try #require(URL(string: "http://a/film"))
    let answer = Recorder<DiskFile>().subscribe(to: media.get(url))
    try await transport.source.subscriptions(count: 1)

    let headers: HeaderFields = isKnown ? ["Content-Length": "200000"] : [:]
    transport.source.next(.head(HTTPHead(status: 200, headers: headers)))
    if !isKnown { transport.source.next(.body(Data(Self.film))) }

    try await answer.ended()
    #expect(answer.failureInWords?.hasPrefix("more than ") == true)
    #expect(scene.valueNames.isEmpty)
  }
}

private struct Unreadable: Error {}

/// A fresh folder for a media cache, which is removed after the test.
private final class MediaScene: Sendable {
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
