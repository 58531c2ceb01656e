import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

/// The code of the page "Coming from Nuke or Kingfisher".
@MainActor
@Suite(.timeLimit(.minutes(3))) struct FromNukeAndKingfisherTests {
  // snippet
  struct Thumbnails<Decoder: ImageDecoder>: Sendable {
    let files: MediaCache<URL>
    let pictures: ImageCache<URL, Decoder>

    init(in folder: URL, decoder: Decoder) {
      let disk = DiskCache(
        directory: folder.appending(path: "files"), byteLimit: .mebibytes(150),
        timeToLive: .days(30))
      let partials = PartialTransfers(
        directory: folder.appending(path: "partials"), byteLimit: .mebibytes(16))
      files = MediaCache(
        disk, over: HTTPSource(resuming: partials), limitedTo: 6, name: \.absoluteString)
      pictures = ImageCache(files, decoder: decoder, byteLimit: .mebibytes(64), longestSide: 120)
    }
  }
  // end

  // snippet
  @MainActor final class ThumbnailRow<Decoder: ImageDecoder> {
    let picture = SignalState<Decoder.Image>()

    func appear(_ url: URL, in thumbnails: Thumbnails<Decoder>) {
      picture.follow(thumbnails.pictures.get(url, priority: .high))
    }

    func disappear() {
      picture.clear()
    }
  }
  // end

  static func prefetch<Decoder>(_ urls: [URL], in thumbnails: Thumbnails<Decoder>) -> Disposable {
    // snippet
    let ahead = thumbnails.files.prefetch(urls).subscribe()
    // end
    return ahead
  }

  /// A decoder of pictures whose file is their width and height in a byte each.
  struct SizeDecoder: ImageDecoder {
    func size(of data: Data) throws -> ImageSize {
      guard data.count == 2 else { throw CocoaError(.fileReadCorruptFile) }
      return ImageSize(width: Int(data[0]), height: Int(data[1]))
    }

    func decode(_ data: Data, scaledTo size: ImageSize) throws -> ImageSize { size }
    func byteCount(of image: ImageSize) -> Int { image.width * image.height * 4 }
  }

  private let scene = GuideScene()
  private let origin: LoopbackServer

  init() throws {
    origin = try LoopbackServer { request in
      Response(body: request.path == "/bad" ? [1] : [240, 120])
    }
  }

  @Test func `rows share a download that was begun ahead, and have the picture at once later`()
    async throws
  {
    let thumbnails = Thumbnails(in: scene.folder, decoder: SizeDecoder())
    let url = try origin.url("/a")
    let rows = [ThumbnailRow<SizeDecoder>(), ThumbnailRow()]
    let ahead = Self.prefetch([url], in: thumbnails)

    for row in rows { row.appear(url, in: thumbnails) }
    let size = ImageSize(width: 120, height: 60)
    await observed { rows.allSatisfy { $0.picture.value == size } }
    ahead.dispose()
    rows[0].disappear()
    let late = ThumbnailRow<SizeDecoder>()
    late.appear(url, in: thumbnails)

    #expect(late.picture.value == size)
    #expect(origin.exchanges.count == 1)
  }

  @Test func `a file that is no picture fails and is removed`() async throws {
    let thumbnails = Thumbnails(in: scene.folder, decoder: SizeDecoder())
    let url = try origin.url("/bad")

    await #expect(throws: ImageError.self) { try await thumbnails.pictures.get(url).value }

    #expect(try await thumbnails.files.get(url, freshness: .cachedOnly).valueIfAny == nil)
  }
}
