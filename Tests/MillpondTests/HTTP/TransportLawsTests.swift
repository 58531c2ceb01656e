import Foundation
import Millpond
import MillpondHTTPTesting
import MillpondTesting
import MillpondSignals
import Testing

@Suite struct TransportLawsTests {
  @Test(arguments: TransportLaw.allCases)
  func `URLSessionTransport keeps the law`(law: TransportLaw) async {
    let breaches = await TransportLaws { URLSessionTransport() }.breaches(of: [law])

    #expect(breaches.isEmpty, "\(breaches)")
  }

  @Test(arguments: TransportLaw.allCases)
  func `a transport that does nothing but fail breaks the law`(law: TransportLaw) async {
    let laws = TransportLaws(timeLimit: .milliseconds(300)) { Changed { _, _ in .fail(Trouble()) } }

    let breaches = await laws.breaches(of: [law])

    // It sends nothing twice, and repeats no redirect; but every law needs an answer or a request.
    let isHeldByDoingNothing: [TransportLaw] = [.failures]
    #expect(breaches.isEmpty == isHeldByDoingNothing.contains(law), "\(breaches)")
  }

  struct Trouble: Error {}

  /// A transport with a fault: another request, or another answer.
  struct Changed: HTTPTransport {
    let base = URLSessionTransport()
    let send: @Sendable (HTTPRequest, any HTTPTransport) -> Signal<HTTPPart>

    init(
      _ send: @escaping @Sendable (HTTPRequest, any HTTPTransport) -> Signal<HTTPPart>
    ) {
      self.send = send
    }

    func send(_ request: HTTPRequest) -> Signal<HTTPPart> { send(request, base) }
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let law: TransportLaw
    let testDescription: String
    let send: @Sendable (HTTPRequest, any HTTPTransport) -> Signal<HTTPPart>

    init(
      _ law: TransportLaw, _ name: String,
      _ send: @escaping @Sendable (HTTPRequest, any HTTPTransport) -> Signal<HTTPPart>
    ) {
      self.law = law
      testDescription = name
      self.send = send
    }
  }

  @Test(arguments: faults)
  func `a transport with one fault breaks its law`(fault: Fault) async {
    let laws = TransportLaws(timeLimit: .milliseconds(200)) { Changed(fault.send) }

    let breaches = await laws.breaches(of: [fault.law])

    #expect(!breaches.isEmpty)
    #expect(breaches.allSatisfy { $0.description.contains("\(fault.law)") })
  }

  static let faults: [Fault] = [
    Fault(.laziness, "it sends at once") { request, base in
      base.send(request).subscribe()
      return base.send(request)
    },
    Fault(.parts, "it sends the head twice") { request, base in
      base.send(request).flatMap { part in
        if case .head = part { Signal.of(part, part) } else { .just(part) }
      }
    },
    Fault(.parts, "it leaves out empty answers' heads") { request, base in
      base.send(request).filter { part in
        if case .head(let head) = part { head.status != 204 } else { true }
      }
    },
    Fault(.parts, "it never completes") { request, base in base.send(request).concat(.never) },
    Fault(.statuses, "it fails for a refusal") { request, base in
      base.send(request).flatMap { part in
        if case .head(let head) = part, head.status == 404 { .fail(Trouble()) } else { .just(part) }
      }
    },
    Fault(.fields, "it drops credentials") { request, base in
      base.send(HTTPRequest(url: request.url, headers: request.headers))
    },
    Fault(.encoding, "it hides the encoding") { request, base in
      base.send(request).map { part in
        if case .head(let head) = part { .head(HTTPHead(status: head.status)) } else { part }
      }
    },
    Fault(.methods, "everything is a GET") { request, base in
      base.send(HTTPRequest(url: request.url))
    },
    Fault(.bodies, "it forgets the type") { request, base in
      guard case .data(let bytes)? = request.body?.content else { return base.send(request) }
      return base.send(.post(request.url, .data(bytes)))
    },
    Fault(.bodies, "it sends no file") { request, base in
      guard case .file? = request.body?.content else { return base.send(request) }
      return base.send(.post(request.url))
    },
    Fault(.progress, "it reports nothing") { request, base in
      Signal { observer, lifetime in
        base.send(request).run(
          observer.replacingOther { event in
            if case .progress = event { return }
            observer.other(event)
          }, lifetime)
      }
    },
    Fault(.brokenBodies, "it sends what it has of a broken stream") { request, base in
      guard let body = request.body else { return base.send(request) }
      let pieces = body.pieces.recover { _ in .empty }
      return base.send(.post(request.url, .stream(pieces)))
    },
    Fault(.redirects, "it stops at a redirect") { request, base in
      guard request.url.path.hasPrefix("/a/") else { return base.send(request) }
      return .of(.head(HTTPHead(status: 302)))
    },
    Fault(.redirects, "it loses the body") { request, base in
      base.send(HTTPRequest(url: request.url, method: request.method))
    },
    Fault(.credentials, "it sends credentials everywhere") { request, base in
      base.send(
        HTTPRequest(
          url: request.url,
          headers: HeaderFields(
            request.headers.fields + request.credentials.fields + [(name: "X-Key", value: "k")])))
    },
    Fault(.credentials, "it does not mark the head") { request, base in
      base.send(request).map { part in
        if case .head(let head) = part {
          .head(HTTPHead(status: head.status, headers: head.headers))
        } else {
          part
        }
      }
    },
    Fault(.failures, "it completes when it fails") { request, base in
      base.send(request).recover { _ in .empty }
    },
    Fault(.cancellation, "it goes on when nobody waits") { request, base in
      .create { observer, _ in
        base.send(request).subscribe { observer.send($0) }
      }
    },
    Fault(.repetition, "it tries again") { request, base in
      base.send(request).retry(.immediate(attempts: 2))
    },
    Fault(.independence, "it keeps answers") { request, base in
      base.send(HTTPRequest(url: request.url, headers: ["If-None-Match": "\"7\""]))
    },
    Fault(.concurrency, "it mixes answers up") { request, base in
      base.send(
        request.url.path == "/7"
          ? HTTPRequest(url: request.url.deletingLastPathComponent().appending(path: "8")) : request
      )
    },
  ]
}
