import Dispatch
import Foundation
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct SessionTransferTests {
  private struct Scene {
    let transfer: SessionTransfer
    let parts = Watched<[Event<HTTPPart>]>([])
    let answers = Watched<[URL?]>([])
    let commands = DispatchQueue(label: "SessionTransferTests")

    static let url = URL(filePath: "/")

    init(_ request: HTTPRequest = HTTPRequest(url: Scene.url)) {
      let parts = parts
      let observer = Observer<HTTPPart>(
        next: { part in parts.change { $0.append(.next(part)) } },
        other: { event in parts.change { $0.append(event.typed()) } })
      transfer = SessionTransfer(request, observer, commands: commands)
    }

    func redirect(to location: String) throws {
      let url = try #require(URL(string: "http://a/b/c"))
      let response = try #require(
        HTTPURLResponse(
          url: url, statusCode: 302, httpVersion: nil, headerFields: ["Location": location]))
      let answers = answers
      transfer.redirect(response, to: URLRequest(url: url)) { request in
        answers.change { $0.append(request?.url) }
      }
    }
  }

  private let scene = Scene()

  @Test func `a redirect is answered with where it points`() throws {
    try scene.redirect(to: "d?e")

    #expect(scene.answers.state == [URL(string: "http://a/b/d?e")])
  }

  // The answer to a task that is cancelled brings a process down on Linux.
  @Test func `a redirect is not answered after disposal`() throws {
    scene.transfer.cancel()

    try scene.redirect(to: "d")

    #expect(scene.answers.state.isEmpty)
  }

  @Test func `a refused connection fails with what was refused, and names the URL`() {
    scene.transfer.refuse(.serverCertificateUntrusted)

    guard case .failed(let failure)? = scene.parts.state.first else {
      Issue.record("no failure")
      return
    }
    let error = failure as? URLError
    #expect(error?.code == .serverCertificateUntrusted)
    #expect(error?.failingURL == Scene.url)
  }

  @Test func `a redirect that is refused is not answered, and fails`() throws {
    try scene.redirect(to: "file:///d")

    #expect(scene.answers.state.isEmpty)
    #expect(scene.parts.state.count == 1)
    #expect(scene.parts.state.first?.isTerminal == true)
  }

  @Test func `nothing is reported after disposal`() throws {
    scene.transfer.cancel()

    scene.transfer.receive(Data([1]))
    scene.transfer.finish(nil, URLError(.cancelled))

    #expect(scene.parts.state.isEmpty)
  }

  @Test func `a running task becomes as urgent as its callers, until it ends`() throws {
    // Such a scheme has no answer, and the task is not cancelled.
    let session = URLSession(configuration: .ephemeral)
    let task = session.dataTask(with: try #require(URL(string: "odd://a")))
    scene.transfer.start { _ in task }

    scene.transfer.raise(to: URLSessionTask.highPriority)
    scene.commands.sync {}
    #expect(task.priority == URLSessionTask.highPriority)

    scene.transfer.finish(nil, nil)
    scene.transfer.raise(to: URLSessionTask.lowPriority)
    scene.commands.sync {}
    #expect(task.priority == URLSessionTask.highPriority)
  }

  @Test func `a cancellation from elsewhere is a failure`() throws {
    scene.transfer.finish(nil, URLError(.cancelled))

    #expect(scene.parts.state.first?.isTerminal == true)
  }

  @Test func `an error of the session is a URLError, however it comes`() throws {
    scene.transfer.finish(nil, NSError(domain: NSURLErrorDomain, code: NSURLErrorTimedOut))

    guard case .failed(let error) = scene.parts.state.first else {
      Issue.record("\(scene.parts.state)")
      return
    }
    #expect((error as? URLError)?.code == .timedOut)
  }
}
