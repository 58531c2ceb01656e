import Foundation
import LoopbackServer
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Removals of everything, after which no file has bytes of a film, not even of a running download.
@Suite(.timeLimit(.minutes(3))) struct MediaErasureTests {
  private static let mark = Data("the former user's film".utf8)
  private let transport = ListeningTransport()
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("millpond-\(UUID().uuidString)")
  private let disk: DiskCache
  private let partials: PartialTransfers
  private let media: MediaCache<Int>

  init() throws {
    disk = DiskCache(directory: folder.appendingPathComponent("disk"), byteLimit: .mebibytes(16))
    partials = PartialTransfers(
      directory: folder.appendingPathComponent("partials"), byteLimit: .mebibytes(16))
    let url = try #require(URL(string: "http://a/film"))
    let network = HTTPSource(transport: transport, resuming: partials) { (_: Int) in
      HTTPRequest(url: url)
    }
    media = MediaCache(disk, over: network, limitedTo: 4) { "\($0)" }
  }

  /// Names of files in which the film's bytes are.
  private var traces: [String] {
    let files = FileManager.default
    let names = files.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    return names.filter { name in
      let data = try? Data(contentsOf: folder.appendingPathComponent(name))
      return data?.range(of: Self.mark) != nil
    }.sorted()
  }

  /// Begins a download, of which a part is in a file when this returns.
  private func begin<Answer>(_ answer: Signal<Answer>) async throws -> Recorder<Answer> {
    let run = transport.source.subscriptions
    let recorder = Recorder<Answer>().subscribe(to: answer)
    try await transport.source.subscriptions(count: run + 1)
    let head = HTTPHead(status: 200, headers: ["Content-Length": "8000000", "ETag": "\"1\""])
    transport.source.runs[run].next(.head(head))
    transport.source.runs[run].next(.body(Self.mark + Data(count: 900_000)))
    // So large that the sender waits until it is written.
    transport.source.runs[run].next(.body(Data(count: 5_000_000)))
    // Two names of it: the other one is for the next process, if this one dies.
    #expect(traces.count == 2)
    return recorder
  }

  /// Ends the download as a lost connection does, and waits until its stream has ended.
  private func breakOff<Answer>(_ recorder: Recorder<Answer>) async throws {
    transport.source.failed(URLError(.networkConnectionLost))
    try await recorder.ended()
  }

  @Test func `bytes of a download under way are in no file when everything is removed`()
    async throws
  {
    let answer = try await begin(media.get(1))

    try await media.removeAll().value
    #expect(traces.isEmpty)

    try await breakOff(answer)
    try await partials.flush().value
    #expect(traces.isEmpty)
  }

  @Test func `bytes of a download under way are in no file when the disk is cleared beneath it`()
    async throws
  {
    let answer = try await begin(media.get(1))

    try await disk.removeAll().value

    #expect(traces.isEmpty)
    answer.dispose()
  }

  @Test func `bytes of a download that broke off are in no file when everything is removed`()
    async throws
  {
    try await breakOff(try await begin(media.get(1)))
    #expect(traces.count == 1)

    try await media.removeAll().value

    #expect(traces.isEmpty)
  }

  @Test func `bytes of a download under way are in no file after the end of its scope`()
    async throws
  {
    let scope = CacheScope()
    let answer = try await begin(media.scoped(to: scope).get(1))

    try await scope.end().value
    try await answer.ended()

    #expect(traces.isEmpty)
    try await partials.flush().value
    #expect(traces.isEmpty)
  }

  @Test func `after the removal of everything no earlier download is resumed`()
    async throws
  {
    let answer = try await begin(media.get(1))

    try await media.removeAll().value
    try await breakOff(answer)
    _ = try await begin(media.get(1))

    #expect(transport.ranges == [nil, nil])
  }

  @Test func `a waiting caller gets the file, which goes when it is released`() async throws {
    let answer = try await begin(media.get(1))

    try await media.removeAll().value
    transport.source.next(.body(Data(count: 8_000_000 - 5_900_000 - Self.mark.count)))
    transport.source.completed()
    try await answer.ended()

    let file = try #require(answer.values.first)
    #expect(try Data(contentsOf: file.url).count == 8_000_000)
    #expect(try Data(contentsOf: file.url).starts(with: Self.mark))
    #expect(try await media.get(1, freshness: .cachedOnly).valueIfAny == nil)
  }

  @Test func `after the removal of everything from the disk no get joins an earlier download`()
    async throws
  {
    let former = try await begin(media.get(1))

    try await disk.removeAll().value
    let next = Recorder<DiskFile>().subscribe(to: media.get(1))

    try await transport.source.subscriptions(count: 2)
    former.dispose()
    next.dispose()
  }
}

/// A transport whose answers a test sends by hand, and that records its requests.
private struct ListeningTransport: HTTPTransport {
  let source = TestSource<HTTPPart>()
  private let asked = Watched<[HTTPRequest]>([])

  let capabilities = TransportCapabilities(appliesBackpressure: true)
  var ranges: [String?] { asked.state.map { $0.headers["Range"] } }

  func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    .deferred {
      asked.change { $0.append(request) }
      return source.signal
    }
  }
}
