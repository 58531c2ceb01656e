import Foundation
import LoopbackServer
import MillpondTesting
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(2))) struct MediaTypeTests {
  private let scene = MediaScene()

  @Test(
    arguments: [
      ("https://example.org/films/film.MP4", "mp4"),
      ("https://example.org/a.b/film.mov?x=.php", "mov"),
      ("https://example.org/film", nil), ("https://example.org", nil), ("film.m4a", "m4a"),
      ("https://example.org/.mp4", nil), ("https://example.org/a.", nil), ("", nil), ("a.b/c", nil),
      ("x.much-too-long", nil), ("x.été", nil), ("a.mp3#t=3", "mp3"),
      ("https://a/watch.php", "php"),
    ] as [(String, String?)])
  func `a name extension is found in names and URLs`(name: String, expected: String?) {
    #expect(MediaType.pathExtension(of: name) == expected)
  }

  @Test(
    arguments: [
      ("\u{0}\u{0}\u{0}\u{18}ftypmp42", "mp4"), ("\u{0}\u{0}\u{0}\u{18}ftypqt  ", "mov"),
      ("\u{0}\u{0}\u{0}\u{18}ftypM4A ", "m4a"), ("RIFF....WEBP", "webp"), ("RIFF....????", nil),
      ("ID3\u{3}", "mp3"), ("%PDF-1.7", "pdf"), ("", nil), ("f", nil), ("plain text", nil),
    ] as [(String, String?)])
  func `a type is known by its first bytes`(text: String, expected: String?) {
    #expect(MediaType.pathExtension(of: text.unicodeScalars.map { UInt8($0.value) }) == expected)
  }

  @Test(arguments: [300, 200_000])
  func `a file has the name extension of its URL, from the network and from the disk`(count: Int)
    async throws
  {
    let body = Array(MediaScene.film.prefix(count))
    let origin = try LoopbackServer { _ in Response(body: body) }
    let media = scene.media()
    let url = try origin.url("/film.mp4?token=a.b")

    for _ in 0..<2 {
      let file = try await media.get(url).value
      #expect(file.url.pathExtension == "mp4")
      #expect(try Data(contentsOf: file.url) == Data(body))
    }
    #expect(origin.exchanges.count == 1)
  }

  @Test func `a file whose URL names no media has the extension of its first bytes`() async throws {
    let origin = try LoopbackServer { _ in
      Response(body: Array("\u{0}\u{0}\u{0}\u{18}ftypmp42".utf8) + MediaScene.film)
    }

    let file = try await scene.media().get(origin.url("/watch.php?v=3")).value

    #expect(file.url.pathExtension == "mp4")
  }

  @Test
  func
    `a further name goes with its file, and one that a killed process left goes at the next start`()
    async throws
  {
    let origin = try LoopbackServer { _ in Response(body: MediaScene.film) }
    do {
      let disk = DiskCache(directory: scene.folder, byteLimit: .mebibytes(16))
      let media = MediaCache(disk, over: HTTPSource(), limitedTo: 1, name: \.absoluteString)
      _ = try await media.get(origin.url("/film.mp4")).value
      try await disk.flush(.written).value
      // The file may be released a moment after it was delivered.
      while !links.isEmpty {
        try Task.checkCancellation()
        await Task.yield()
      }
      try await disk.close().value
    }
    let left = scene.folder.appending(
      path: FileName.link(7, pathExtension: "mp4").text)
    try Data([1]).write(to: left)

    let disk = DiskCache(directory: scene.folder, byteLimit: .mebibytes(16))
    _ = try await disk.get("x").valueIfAny

    #expect(links.isEmpty)
    try await disk.close().value
  }

  @Test func `on a volume without further names the file has none`() async throws {
    let calls = FaultyCalls()
    let disk = DiskCache(
      directory: scene.folder, DiskOptions(byteLimit: .mebibytes(16)), FileSystem(calls))
    let media = MediaCache(
      disk, over: HTTPSource(), limitedTo: 1, name: \.absoluteString)
    let origin = try LoopbackServer { _ in Response(body: MediaScene.film) }
    calls.inject(.error(.EPERM), of: [.link], count: .max)

    let file = try await media.get(origin.url("/film.mp4")).value

    #expect(try Data(contentsOf: file.url) == Data(MediaScene.film))
  }

  private var links: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: scene.folder.path)) ?? []
    return names.filter { $0.contains(FileName.linkSuffix) }
  }
}
