#if canImport(FoundationNetworking)
  import Foundation
  import LoopbackServer
  import Millpond
  import MillpondSignals
  import Testing

  @Suite struct TrailerTests {
    /// Returns the server of a chunked answer.
    private static func origin(trailer: String) throws -> LoopbackServer {
      try LoopbackServer { _ in
        .scripted([
          .text(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
              + trailer + "\r\n")
        ])
      }
    }

    @Test func `a chunked answer without a trailer field is a value`() async throws {
      let origin = try Self.origin(trailer: "")

      #expect(try await HTTPSource().get(try origin.url("/")).value == Data("ok".utf8))
    }

    // Seen in swift-corelibs-foundation 6.3.1. If this fails, the fault is mended: then the article
    // about platforms and the comment of `URLSessionTransport` are out of date.
    @Test func `a trailer field ends the process, as the article about platforms says`() async {
      await #expect(processExitsWith: .failure) {
        let origin = try TrailerTests.origin(trailer: "X-Sum: 1\r\n")
        _ = try? await HTTPSource().get(try origin.url("/")).value
        withExtendedLifetime(origin) {}
      }
    }
  }
#endif
