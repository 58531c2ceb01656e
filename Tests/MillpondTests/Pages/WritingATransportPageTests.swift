import Foundation
import LoopbackServer
import Millpond
import MillpondHTTPTesting
import MillpondSignals
import MillpondTesting
import Testing

/// The code of the page about writing a transport.
@Suite struct WritingATransportPageTests {
  // snippet
  struct MyTransport: HTTPTransport {
    let client: Client

    func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
      .create { observer, lifetime in
        let call = client.call(request.method.name, request.url, request.fields.fields)
        call.start { event in
          switch event {
          case .head(let status, let fields):
            observer.next(.head(HTTPHead(status: status, headers: HeaderFields(fields))))
          case .bytes(let bytes): observer.next(.body(Data(bytes)))
          case .end(nil): observer.completed()
          case .end(let error?): observer.failed(error)
          }
        }
        lifetime.onEnd { call.cancel() }
      }
    }
  }
  // end

  // snippet
  @Test func `my transport keeps the laws of requests without a body`() async {
    let laws = TransportLaws { MyTransport(client: Client()) }
    let later: Set<TransportLaw> = [.bodies, .progress, .brokenBodies, .redirects, .credentials]
    let breaches = await laws.breaches(of: TransportLaw.allCases.filter { !later.contains($0) })
    #expect(breaches.isEmpty)
  }
  // end

  /// A client as others have: calls with a callback.
  struct Client: Sendable {
    enum Event: Sendable {
      case head(Int, [(name: String, value: String)])
      case bytes([UInt8])
      case end((any Error)?)
    }

    struct Call: Sendable {
      let request: HTTPRequest
      let handle = Locked<Disposable?>(nil)

      func start(_ receive: @escaping @Sendable (Event) -> Void) {
        let handle = URLSessionTransport().send(request).subscribe(
          onNext: { part in
            switch part {
            case .head(let head): receive(.head(head.status, head.headers.fields))
            case .body(let bytes): receive(.bytes(Array(bytes)))
            }
          },
          onFailed: { receive(.end($0)) }, onCompleted: { receive(.end(nil)) }
        )
        self.handle.withLock { $0 = handle }
      }

      func cancel() { handle.withLock { $0 }?.dispose() }
    }

    func call(_ method: String, _ url: URL, _ fields: [(name: String, value: String)]) -> Call {
      Call(
        request: HTTPRequest(
          url: url, method: HTTPMethod(method), headers: HeaderFields(fields)))
    }
  }

  @Test func `a source gets a value through the transport of the page, and an error`() async throws
  {
    let origin = try LoopbackServer { request in
      Response(status: request.path == "/a" ? 200 : 404, body: [1, 2, 3])
    }
    let source = HTTPSource(transport: MyTransport(client: Client()))

    let answer = try await Recorder.outcome(of: source, origin.url("/a"))
    let failure = try await Recorder.outcome(of: source, origin.url("/b"))

    #expect(answer.values == [Data([1, 2, 3])])
    #expect(failure.failureInWords == "status 404")
  }

  @Test func `leaving a get of the page's transport closes the connection`() async throws {
    let origin = try LoopbackServer { _ in
      Response(body: [1, 2, 3]).held(by: ResponseHold(), afterBodyBytes: 1)
    }
    let source = HTTPSource(transport: MyTransport(client: Client()))
    let recorder = Recorder<Data>()
    let hasBegun = Watched(false)
    recorder.subscribe(to: source.pieces(of: try origin.url("/a"))) { _ in
      hasBegun.change { $0 = true }
    }

    try await hasBegun.wait(for: "bytes") { $0 }
    recorder.dispose()

    #expect(await origin.wasClosedByClient())
  }
}
