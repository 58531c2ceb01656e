import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Downloads that are under way when their cache releases its folder.
@Suite(.timeLimit(.minutes(3))) struct MediaReleasingTests {
  private static let byteCount = 6_000_000

  private let scene = DiskScene()
  private let origin = RangingOrigin(byteCount: byteCount)
  private let transport = TestTransport()

  private func media(_ disk: DiskCache, over source: HTTPSource<URL>) -> MediaCache<URL> {
    MediaCache(disk, over: source, limitedTo: 1, name: \.absoluteString)
  }

  /// The files that this process locks.
  private func locked() -> [String] {
    let names =
      FileManager.default.enumerator(atPath: scene.folder.path)?.compactMap { $0 as? String } ?? []
    return names.filter { name in
      let url = scene.folder.appending(path: name)
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder),
        !isFolder.boolValue
      else { return false }
      let lock = TestPlatform.lock(url.path)
      lock.map(TestPlatform.unlock)
      return lock == nil
    }
  }

  @Test
  func `a release ends a download, locks none of its files, and the next get goes on with it`()
    async throws
  {
    let url = try #require(URL(string: "http://a/film"))
    let partials = PartialTransfers(
      directory: scene.folder.appending(path: "partials"), byteLimit: .mebibytes(16))
    let disk = DiskCache(
      directory: scene.folder.appending(path: "disk"), byteLimit: .mebibytes(16))
    let media = media(disk, over: HTTPSource(transport: transport, resuming: partials))
    let answer = Recorder<DiskFile>().subscribe(to: media.get(url))
    try await transport.source.subscriptions(count: 1)
    let headers: HeaderFields = ["Content-Length": "\(Self.byteCount)", "ETag": "\"1\""]
    transport.source.next(.head(HTTPHead(status: 200, headers: headers)))
    // So large that the sender waits until it is written.
    transport.source.next(.body(origin.body.prefix(5_000_000)))
    #expect(locked().count == 1)

    try await disk.release()

    #expect(locked().isEmpty)
    try await answer.ended()
    guard case .closed = answer.failure?.diskError else {
      Issue.record("\(String(describing: answer.failure))")
      return
    }
    let next = self.media(disk, over: HTTPSource(transport: origin, resuming: partials))
    #expect(try Data(contentsOf: try await next.get(url).value.url) == origin.body)
    #expect(origin.ranges == ["bytes=4980736-"])
  }

  @Test func `a stream of a store that is closed ends at once`() async throws {
    let store = DiskStore(
      path: scene.folder.appending(path: "disk").path, DiskOptions(byteLimit: .mebibytes(1)))
    let done = Promise<Void>()
    store.streams.end(on: SerialQueue(label: "closing")) { done.end() }
    try await done.outcome.value

    let answer = Recorder<DiskFile?>().subscribe(
      to: Signal { observer, lifetime in
        _ = FileStream(
          store, key: "a", PendingWrite(.next()), .forever, FileStreamOptions(), observer,
          lifetime.child())
      })

    try await answer.ended()
    guard case .closed = answer.failure?.diskError else {
      Issue.record("\(String(describing: answer.failure))")
      return
    }
  }
}
