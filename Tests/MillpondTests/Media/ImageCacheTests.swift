import Foundation
import LoopbackServer
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct ImageCacheTests {
  private let scene = MediaScene()
  private let decoder = PPMDecoder()

  private func images(
    longestSide: Int = .max, byteLimit: Int = .mebibytes(1), countLimit: Int = .max
  ) -> ImageCache<URL, PPMDecoder> {
    ImageCache(
      scene.media(), decoder: decoder, byteLimit: byteLimit, countLimit: countLimit,
      longestSide: longestSide, pixelLimit: 1 << 20)
  }

  private func origin(_ file: [UInt8]) throws -> LoopbackServer {
    try LoopbackServer { _ in Response(body: file) }
  }

  @Test func `a picture is fetched and decoded once, and then answers from memory`() async throws {
    let origin = try origin(PPMDecoder.file(width: 4, height: 2))
    let (images, url) = (images(), try origin.url("/a.ppm"))

    let picture = try await images.get(url).value
    let again = Recorder<PPMDecoder.Picture>().subscribe(to: images.get(url))

    #expect(picture.size == ImageSize(width: 4, height: 2))
    #expect(picture.pixels == (0..<24).map { UInt8($0) })
    #expect(again.values == [picture])
    #expect(origin.exchanges.count == 1)
    #expect(decoder.decoded.withLock { $0.count } == 1)
  }

  @Test func `a picture stays decoded after its first get, though others fill the memory`()
    async throws
  {
    let origin = try origin(PPMDecoder.file(width: 8, height: 8))
    // Room for three.
    let images = images(byteLimit: 3 * 8 * 8 * 3 + 8)
    for path in ["/a", "/b", "/c", "/d", "/d"] {
      _ = try await images.get(try origin.url(path)).value
    }

    #expect(decoder.decoded.withLock { $0.count } == 4)
  }

  @Test func `no more pictures stay decoded than the limit says, however small they are`()
    async throws
  {
    let origin = try origin(PPMDecoder.file(width: 1, height: 1))
    let images = images(countLimit: 2)
    for path in ["/a", "/b", "/c", "/c", "/a"] {
      _ = try await images.get(try origin.url(path)).value
    }

    #expect(decoder.decoded.withLock { $0.count } == 4)
  }

  @Test func `a large picture is scaled down, in its proportions`() async throws {
    let origin = try origin(PPMDecoder.file(width: 40, height: 20))
    let url = try origin.url("/a")

    #expect(
      try await images(longestSide: 10).get(url).value.size == ImageSize(width: 10, height: 5))
  }

  @Test(arguments: [
    (3, 1, 10, 3, 1), (1_000, 1, 10, 10, 1), (1, 1_000, 10, 1, 10), (7, 5, 0, 1, 1),
    (7, 5, -3, 1, 1), (Int.max, Int.max, 100, 100, 100),
  ])
  func `a scaled size has a pixel at least`(
    width: Int, height: Int, side: Int, newWidth: Int, newHeight: Int
  ) {
    let size = ImageSize(width: width, height: height).scaled(longestSide: side)

    #expect(size == ImageSize(width: newWidth, height: newHeight))
  }

  @Test func `a file that states a huge size fails before it is decoded, and stays`() async throws {
    let origin = try origin(Array("P6 999999999 999999999 255\n".utf8))
    let (images, url) = (images(), try origin.url("/a?token=secret"))

    for _ in 0..<2 {
      let answer = try await Recorder<PPMDecoder.Picture>.ended(images.get(url))
      let error = try #require(answer.failure as? ImageError)
      guard case .tooManyPixels(let key, let size, let limit) = error else { throw error }
      #expect(size.width == 999_999_999)
      #expect(limit == 1 << 20)
      #expect(!key.contains("secret"))
    }

    #expect(decoder.decoded.withLock { $0.isEmpty })
    #expect(origin.exchanges.count == 1)
  }

  @Test(arguments: [
    "P6 \(Int.max) \(Int.max) 255\n", "P6 \(Int.max) 2 255\n",
  ])
  func `a size that can't be counted is too large, and nothing traps`(file: String) async throws {
    let origin = try origin(Array(file.utf8))

    let answer = try await Recorder<PPMDecoder.Picture>.ended(images().get(origin.url("/a")))

    guard case .tooManyPixels? = answer.failure as? ImageError else {
      Issue.record("\(String(describing: answer.failure))")
      return
    }
  }

  @Test(arguments: ["", "P6", "P6 0 5 255\n", "P6 -4 5 255\n", "<html>Log in</html>"])
  func `a file that is not a picture fails with its key, and is not stored`(file: String)
    async throws
  {
    let origin = try origin(Array(file.utf8))
    let url = try origin.url("/a")
    let media = scene.media()
    let images = ImageCache(media, decoder: decoder, byteLimit: 1_000)

    let answer = try await Recorder<PPMDecoder.Picture>.ended(images.get(url))

    guard case .undecodable(let key, _)? = answer.failure as? ImageError else {
      Issue.record("\(String(describing: answer.failure))")
      return
    }
    #expect(key == url.absoluteString)
    #expect(try await media.get(url, freshness: .cachedOnly).valueIfAny == nil)
  }

  @Test func `a truncated picture fails, and one that was stored is fetched once more`()
    async throws
  {
    let isWhole = Watched(false)
    let origin = try LoopbackServer { _ in
      Response(body: PPMDecoder.file(width: 4, height: 4, missing: isWhole.state ? 0 : 1))
    }
    let url = try origin.url("/a")
    let media = scene.media()
    let images = ImageCache(media, decoder: decoder, byteLimit: 1_000)
    _ = try await media.get(url).collect().value
    isWhole.change { $0 = true }

    #expect(try await images.get(url).value.pixels.count == 48)
    #expect(origin.exchanges.count == 2)
  }

  @Test func `a file with more bytes than are read into memory fails before that, and stays`()
    async throws
  {
    let origin = try origin(PPMDecoder.file(width: 20, height: 20))
    let media = scene.media()
    let images = ImageCache(media, decoder: decoder, byteLimit: 1_000, fileByteLimit: 500)
    let url = try origin.url("/a")

    let answer = try await Recorder<PPMDecoder.Picture>.ended(images.get(url))

    guard case .tooManyBytes(_, _, limit: 500)? = answer.failure as? ImageError else {
      Issue.record("\(String(describing: answer.failure))")
      return
    }
    #expect(try await media.get(url, freshness: .cachedOnly).value.byteCount > 500)
  }

  @Test func `a removal reaches memory and files`() async throws {
    let origin = try origin(PPMDecoder.file(width: 4, height: 2))
    let (images, url) = (images(), try origin.url("/a"))
    _ = try await images.get(url).value

    try await images.removeAll().value

    #expect(try await images.get(url, freshness: .cachedOnly).valueIfAny == nil)
    _ = try await images.get(url).value
    #expect(origin.exchanges.count == 2)
  }

  @Test func `pictures in memory keep the limit in bytes`() async throws {
    let origin = try origin(PPMDecoder.file(width: 10, height: 10))
    let images = images(byteLimit: 700)

    for name in ["/a", "/b", "/c", "/d"] { _ = try await images.get(origin.url(name)).value }

    let size = try #require(images.sizes["MemoryCache"])
    #expect(size.count >= 1)
    #expect(size.cost.map { $0 <= 700 } == true)
  }
}
