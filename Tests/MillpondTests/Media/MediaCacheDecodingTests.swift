import Dispatch
import Foundation
import LoopbackServer
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct MediaCacheDecodingTests {
  private let scene = MediaScene()

  @Test func `a decoded value comes from the bytes of the file, and has its age`() async throws {
    let origin = try LoopbackServer { _ in Response(body: MediaScene.film) }
    let media = scene.media()
    let url = try origin.url("/film")
    let cache = MemoryCache<URL, Int>(countLimit: 10).layered(over: media.decoding { $0.count })

    #expect(try await cache.get(url).value == 200_000)
    #expect(try await cache.get(url).value == 200_000)
    #expect(origin.exchanges.count == 1)
  }

  @Test func `an origin's value that can't be decoded fails as it was thrown, and is not kept`()
    async throws
  {
    let origin = try LoopbackServer { _ in Response(body: MediaScene.film) }
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
      Response(body: isBehindPortal.state ? page : Array(MediaScene.film.prefix(byteCount)))
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
    let origin = try LoopbackServer { _ in Response(body: MediaScene.film) }
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
      Response(headers: ["ETag": "\"7\""], body: MediaScene.film)
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

  @Test func `nothing is decoded for a caller that left while the file was looked for`()
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
    try await disk.set(Data(MediaScene.film), for: url.absoluteString).value
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

  @Test func `no file is opened for a caller that left before it was looked for`() async throws {
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
    try await disk.set(Data(MediaScene.film), for: "film").value
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
}
