import Foundation
import Millpond
import MillpondTesting
import Testing

/// The code of the page "App groups and extensions".
@Suite(.timeLimit(.minutes(3))) struct AppGroupsTests {
  // snippet
  /// The scene is in the background, or the extension has answered.
  func putDown(_ feed: DiskCache) async throws {
    try await feed.release()
  }
  // end

  // snippet
  func feed(in group: URL, over network: HTTPSource<URL>) -> some Source<URL, Data> {
    let disk = DiskCache(
      directory: group.appending(path: "feed"), byteLimit: .mebibytes(32))
    return disk.mapKeys(\.absoluteString).layered(over: network)
  }
  // end

  private struct Origin: HTTPTransport {
    func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
      .from([.head(HTTPHead(status: 200)), .body(Data("new".utf8))])
    }
  }

  @Test func `a folder that another process has is passed over, and used once it is free`()
    async throws
  {
    let scene = DiskScene()
    let lock = scene.folder.appending(path: "feed/millpond.lock").path
    try FileManager.default.createDirectory(
      at: scene.folder.appending(path: "feed"), withIntermediateDirectories: true)
    let held = try #require(TestPlatform.lock(lock))
    let url = try #require(URL(string: "http://a/"))
    let source = feed(in: scene.folder, over: HTTPSource(transport: Origin()))

    #expect(try await source.get(url).value == Data("new".utf8))
    TestPlatform.unlock(held)
    #expect(try await source.get(url).value == Data("new".utf8))
  }

  @Test func `what is put down can be picked up by another cache`() async throws {
    let scene = DiskScene()
    let first = DiskCache(directory: scene.folder, byteLimit: 1 << 20)
    try await first.set(Data("x".utf8), for: "a").value

    try await putDown(first)

    let second = DiskCache(directory: scene.folder, byteLimit: 2 << 20)
    #expect(try await second.get("a").value == Data("x".utf8))
    try await second.close()
  }
}
