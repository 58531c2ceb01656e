#if canImport(FoundationNetworking)
  import Foundation
  import LoopbackServer
  import MillpondTesting
  import Testing

  @testable import Millpond

  /// Downloads of large files in ranges, for a system whose session cannot wait for the disk.
  @Suite struct MediaRangesTests {
    private static let film = (0..<5_000).flatMap { number in
      [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 4_000)
    }
    private static let firstRange = "bytes=0-16777215"

    private let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("millpond-\(UUID().uuidString)")

    /// Returns the answer of an origin of the film that knows ranges; a later one breaks off at
    /// `end`.
    private static func answer(
      _ request: Request, tag: String = "\"1\"", upTo end: Int = film.count
    ) -> Response {
      let bounds = request.headers["Range"]?.dropFirst("bytes=".count).split(separator: "-")
      guard let first = bounds?.first.flatMap({ Int($0) }), request.isFor(tag) else {
        return Response(headers: ["ETag": tag], body: film)
      }
      let last = bounds?.dropFirst().first.flatMap { Int($0) } ?? film.count
      let range = first...min(last, film.count - 1)
      return Response(
        status: 206,
        headers: [
          "ETag": tag, "Content-Range": "bytes \(first)-\(range.upperBound)/\(film.count)",
          "Content-Length": "\(range.count)",
        ], body: Array(film[range].prefix(end - first)))
    }

    /// Gets the film once, and returns the answer.
    private func ask(
      _ origin: LoopbackServer, _ authorization: HTTPAuthorization? = nil,
      resuming: Bool = false
    ) async throws -> Recorder<DiskFile> {
      defer { try? FileManager.default.removeItem(at: folder.appendingPathComponent("disk")) }
      let disk = DiskCache(
        directory: folder.appendingPathComponent("disk"), byteLimit: .mebibytes(64))
      let partials = resuming ? PartialTransfers(directory: folder, byteLimit: .mebibytes(64)) : nil
      let media = MediaCache(
        disk, over: HTTPSource(authorization: authorization, resuming: partials), limitedTo: 1,
        name: \.absoluteString)
      let answer = try await Recorder.ended(media.get(origin.url("/film")))
      #expect(answer.failure != nil || answer.bytes == Self.film)
      return answer
    }

    private func ranges(_ origin: LoopbackServer) -> [String?] {
      origin.exchanges.map { $0.request.headers["Range"] }
    }

    @Test func `a film is requested in ranges, with the progress of the whole`() async throws {
      let origin = try LoopbackServer { Self.answer($0) }

      let answer = try await ask(origin)

      #expect(answer.isCompleted)
      #expect(answer.progress.allSatisfy { $0.total == 20_000_000 })
      #expect(answer.progress.last?.completed == 20_000_000)
      #expect(ranges(origin).count > 1)
      #expect(ranges(origin).first == Self.firstRange)
      #expect(origin.exchanges.dropFirst().allSatisfy { $0.request.headers["If-Range"] == "\"1\"" })
    }

    @Test func `a request for a range of its own has just that range`() async throws {
      let origin = try LoopbackServer { Self.answer($0) }
      let source = HTTPSource { (url: URL) in
        HTTPRequest(url: url, headers: ["Range": "bytes=7-"])
      }
      let disk = DiskCache(
        directory: folder.appendingPathComponent("disk"), byteLimit: .mebibytes(64))
      defer { try? FileManager.default.removeItem(at: folder) }
      let media = MediaCache(disk, over: source, limitedTo: 1, name: \.absoluteString)

      // A partial answer is not a value.
      let answer = try await Recorder.ended(media.get(origin.url("/film")))

      #expect(answer.failureInWords == "status 206")
      #expect(ranges(origin) == ["bytes=7-"])
    }

    @Test(arguments: [false, true])
    func `one whose tag is another each time comes at once`(resuming: Bool) async throws {
      let count = Watched(0)
      let origin = try LoopbackServer { request in
        let number = count.change { count in
          count += 1
          return count
        }
        return Self.answer(request, tag: "\"\(number)\"")
      }

      let answer = try await ask(origin, resuming: resuming)

      #expect(answer.isCompleted)
      #expect(ranges(origin).first == Self.firstRange)
      #expect(ranges(origin).count == 3)
    }

    @Test func `a body that breaks off in a later range is resumed there, in ranges`() async throws
    {
      let hasBroken = Watched(false)
      let origin = try LoopbackServer { request in
        let isFirst = request.headers["Range"] == Self.firstRange
        let breaks = hasBroken.change { hasBroken in
          defer { hasBroken = hasBroken || !isFirst }
          return !isFirst && !hasBroken
        }
        return breaks ? Self.answer(request, upTo: 18_000_000) : Self.answer(request)
      }
      defer { try? FileManager.default.removeItem(at: folder) }

      #expect(try await ask(origin, resuming: true).failure != nil)
      #expect(try await ask(origin, resuming: true).isCompleted)

      // Whole pieces of 256 KiB are kept.
      #expect(ranges(origin).dropFirst(2).first??.hasPrefix("bytes=17825792-") == true)
      #expect(ranges(origin).count { $0 == Self.firstRange } == 1)
    }

    @Test func `credentials that expire between two ranges are renewed`() async throws {
      let origin = try LoopbackServer { request in
        let isFirst = request.headers["Range"] == Self.firstRange
        return isFirst || request.headers["X-Key"] == "new"
          ? Self.answer(request) : Response(status: 401)
      }
      let account = HTTPAuthorization(for: try origin.url("/")) { refused in
        refused == nil ? ["X-Key": "old"] : ["X-Key": "new"]
      }

      let answer = try await ask(origin, account)

      #expect(answer.isCompleted)
      #expect(!ranges(origin).contains(nil))
      #expect(ranges(origin).count { $0 == Self.firstRange } == 1)
      #expect(answer.progress.map(\.completed) == answer.progress.map(\.completed).sorted())
    }

    @Test(arguments: [401, 403, 404, 410])
    func `a refusal between two ranges is the answer, and nothing is asked for anew`(
      status: Int
    ) async throws {
      let origin = try LoopbackServer { request in
        request.headers["Range"] == Self.firstRange
          ? Self.answer(request) : Response(status: status)
      }

      let answer = try await ask(origin)

      #expect(answer.failureInWords == "status \(status)")
      #expect(ranges(origin).count == 2)
    }

    @Test(arguments: [401, 403])
    func `after a refusal between two ranges it goes on where it was`(status: Int) async throws {
      let isRefused = Watched(true)
      let origin = try LoopbackServer { request in
        request.headers["Range"] == Self.firstRange || !isRefused.state
          ? Self.answer(request) : Response(status: status)
      }
      defer { try? FileManager.default.removeItem(at: folder) }
      #expect(try await ask(origin, resuming: true).failureInWords == "status \(status)")
      isRefused.change { $0 = false }

      #expect(try await ask(origin, resuming: true).isCompleted)

      #expect(!ranges(origin).contains(nil))
      #expect(ranges(origin).count { $0 == Self.firstRange } == 1)
    }

    @Test func `a transport that wraps a session is asked in ranges too`() async throws {
      struct Wrapper: HTTPTransport {
        let base = URLSessionTransport()

        func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
          base.send(request)
        }
      }
      let origin = try LoopbackServer { Self.answer($0) }
      let disk = DiskCache(
        directory: folder.appendingPathComponent("disk"), byteLimit: .mebibytes(64))
      defer { try? FileManager.default.removeItem(at: folder) }
      let media = MediaCache(
        disk, over: HTTPSource(transport: Wrapper()), limitedTo: 1, name: \.absoluteString)

      let answer = try await Recorder.ended(media.get(origin.url("/film")))

      #expect(answer.bytes == Self.film)
      #expect(ranges(origin).first == Self.firstRange)
    }
  }

  extension Request {
    /// Whether it wants a range of this version.
    fileprivate func isFor(_ tag: String) -> Bool {
      headers["If-Range"].map { $0 == tag } ?? true
    }
  }
#endif
