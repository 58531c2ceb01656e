import Foundation
import LoopbackServer
import Millpond
import MillpondSignals
import MillpondTesting

// The laws about requests and their bodies.
extension TransportLawsScene {
  mutating func methods() async throws {
    let origin = try LoopbackServer { _ in Response(body: [1, 2]) }
    let methods: [HTTPMethod] = [.get, .post, .put, .patch, .delete, .options, "PURGE"]
    for method in methods {
      let answer = await answer(to: HTTPRequest(url: try origin.url("/\(method)"), method: method))
      expect(answer, 200, [1, 2], to: "\(method)")
    }
    expect(await answer(to: .head(try origin.url("/HEAD"))), 200, [], to: "HEAD")
    let arrived = origin.exchanges.map { "/\($0.request.method)" }
    let wanted = origin.exchanges.map(\.request.path)
    expect(arrived == wanted, "\(wanted) arrived as \(arrived)")
  }

  /// 200,000 bytes, which no buffer takes at once.
  private static let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 11) }

  mutating func bodies() async throws {
    let origin = try LoopbackServer { _ in Response() }
    let file = try TransportLawsFile(Self.bytes)
    let pieces = Signal<Data>.from(
      stride(from: 0, to: Self.bytes.count, by: 70_000).map { start in
        Data(Self.bytes[start..<min(start + 70_000, Self.bytes.count)])
      })
    let kinds: [(name: String, body: HTTPBody, bytes: [UInt8])] = [
      ("memory", .data(Data(Self.bytes), contentType: "a/b"), Self.bytes),
      ("nothing", .data(Data(), contentType: "a/b"), []),
      ("file", .file(file.url, contentType: "a/b"), Self.bytes),
      ("measured", .stream(pieces, length: Self.bytes.count, contentType: "a/b"), Self.bytes),
      ("stream", .stream(pieces, contentType: "a/b"), Self.bytes),
    ]
    for (name, body, bytes) in kinds {
      expect(
        await answer(to: .post(try origin.url("/\(name)"), body)), to: "a body of \(name)")
      guard let sent = origin.exchanges.first(where: { $0.request.path == "/\(name)" })?.request
      else {
        expect(false, "a body of \(name) did not arrive")
        continue
      }
      expect(
        sent.body == bytes, "a body of \(name) arrived as \(sent.body.count) other bytes")
      let type = sent.headers["Content-Type"]
      expect(type == "a/b", "the type of \(name) arrived as \(type ?? "none")")
      let length = sent.headers["Content-Length"]
      expect(
        name == "stream" || length == "\(bytes.count)",
        "the length of \(name) was stated as \(length ?? "none")")
    }
  }

  mutating func progress() async throws {
    let origin = try LoopbackServer { _ in Response(body: [1]) }
    let file = try TransportLawsFile(Self.bytes)
    for (name, body) in [
      ("memory", HTTPBody.data(Data(Self.bytes))), ("file", .file(file.url)),
      ("stream", .stream(.just(Data(Self.bytes)), length: Self.bytes.count)),
    ] {
      let answer = await answer(to: .put(try origin.url("/"), body))
      let counts = answer.progress.map(\.completed)
      expect(counts.last == Self.bytes.count, "\(name): \(counts) bytes were reported")
      expect(counts == counts.sorted(), "\(name): \(counts) goes backwards")
      expect(
        answer.progress.allSatisfy { $0.total == nil || $0.total == Self.bytes.count },
        "\(name): a total is not that of the body")
      expect(!answer.hasLateProgress, "\(name): progress came after the head")
    }
  }

  mutating func brokenBodies() async throws {
    struct Trouble: Error {}
    let origin = try LoopbackServer { _ in Response() }
    let missing = FileManager.default.temporaryDirectory.appendingPathComponent("none \(UUID())")
    let some = Signal<Data>.just(Data([1, 2, 3]))
    let kinds: [(name: String, body: HTTPBody)] = [
      ("a file that does not exist", .file(missing)),
      ("a stream that fails", .stream(some.concat(.fail(Trouble())))),
      ("a stream with fewer bytes than stated", .stream(some, length: 4)),
      ("a stream with more bytes than stated", .stream(some, length: 2)),
    ]
    for (name, body) in kinds {
      let answer = await answer(to: .post(try origin.url("/"), body))
      expect(answer.isFailed && answer.heads.isEmpty, "\(name): \(answer.summary)")
      if name == "a stream that fails", case .failed(let error)? = answer.events.last {
        expect(error is Trouble, "\(name): its error became \(error)")
      }
    }
    let count = origin.exchanges.count
    expect(count == 0, "\(count) requests arrived as if they were complete")
  }

  mutating func repetition() async throws {
    let origin = try LoopbackServer { request in
      request.method == "GET" ? Response() : .scripted([.close])
    }
    for (name, body) in [("no body", nil), ("a body", HTTPBody.data(Data([1, 2, 3])))] {
      // Leaves a connection that a transport may use again.
      _ = await answer(to: HTTPRequest(url: try origin.url("/")))
      origin.forgetExchanges()
      let answer = await answer(to: .post(try origin.url("/"), body))
      expect(
        answer.isFailed, "a POST with \(name) on a lost connection: \(answer.summary)")
      let count = origin.exchanges.count
      expect(count == 1, "a POST with \(name) arrived \(count) times")
    }
  }
}

/// A file for a check, which is removed with this object.
final class TransportLawsFile: Sendable {
  let url: URL

  init(_ bytes: [UInt8]) throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("law \(UUID())")
    try Data(bytes).write(to: url)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
