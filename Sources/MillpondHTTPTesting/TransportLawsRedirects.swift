import Foundation
import LoopbackServer
import Millpond
import MillpondSignals
import MillpondTesting

// The laws about redirects and credentials.
extension TransportLawsScene {
  mutating func redirects() async throws {
    let targets = [
      "/a/relative": "c", "/a/upward": "../c", "/a/absolute": "/c?d", "/a/loop": "/a/loop",
      "/a/file": "file:///etc/hostname", "/a/mail": "mailto:a@b", "/a/missing": nil,
    ]
    let origin = try LoopbackServer { request in
      guard let target = targets[request.path] else {
        return Response(body: Array(request.path.utf8))
      }
      return Response(status: 302, headers: target.map { ["Location": $0] } ?? [:])
    }
    for (path, end) in [("/a/relative", "/a/c"), ("/a/upward", "/c"), ("/a/absolute", "/c?d")] {
      let answer = await answer(to: HTTPRequest(url: try origin.url(path)))
      expect(answer, 200, Array(end.utf8), to: path)
    }
    for path in ["/a/file", "/a/mail", "/a/loop"] {
      let answer = await answer(to: HTTPRequest(url: try origin.url(path)))
      expect(answer.isFailed, "\(path): \(answer.summary), not a failure")
    }
    let missing = await answer(to: HTTPRequest(url: try origin.url("/a/missing")))
    expect(missing.isCompleted || missing.isFailed, "a redirect without a target has no end")
    let count = origin.requestCount(path: "/a/loop")
    expect(count <= 21, "a loop of redirects was followed for \(count) requests")
  }

  mutating func redirectsWithBodies() async throws {
    let origin = try LoopbackServer { request in
      let status = Int(request.path.dropFirst())
      return status.map { Response(status: $0, headers: ["Location": "/end"]) } ?? Response()
    }
    let file = try TransportLawsFile(Array("body".utf8))
    let bodies: [HTTPBody] = [
      .data(Data("body".utf8)), .file(file.url), .stream(.just(Data("body".utf8)), length: 4),
    ]
    for (method, status) in [
      (HTTPMethod.post, 301), (.post, 302), (.post, 303), (.post, 307), (.post, 308), (.put, 302),
      (.put, 303),
    ] {
      for body in bodies {
        origin.forgetExchanges()
        let request = HTTPRequest(url: try origin.url("/\(status)"), method: method, body: body)
        let name = "\(method) with \(body), redirected by \(status)"
        expect(await answer(to: request), to: name)
        let next = request.redirected(
          by: HTTPHead(status: status), to: try origin.url("/end"))
        let end = origin.exchanges.last?.request
        expect(
          end?.path == "/end" && end?.method == next.method.name,
          "\(name), went on as \(end?.method ?? "nothing"), not as \(next.method)")
        let isKept = next.body != nil
        expect(
          end?.body == (isKept ? Array("body".utf8) : []),
          "\(name), went on with \(end?.body.count ?? 0) bytes")
        expect(
          isKept || end?.headers["Content-Type"] == nil, "\(name), kept the type of its lost body")
      }
    }
  }

  mutating func credentials() async throws {
    let home = Watched("")
    let other = try LoopbackServer { request in
      request.path == "/back"
        ? Response(status: 302, headers: ["Location": "\(home.state)/end"])
        : Response(status: 401)
    }
    let origin = try LoopbackServer { [base = other.baseURL] request in
      switch request.path {
      case "/same": Response(status: 302, headers: ["Location": "/end"])
      case "/away": Response(status: 302, headers: ["Location": "\(base)/end"])
      case "/back": Response(status: 302, headers: ["Location": "\(base)/back"])
      default: Response(status: 401)
      }
    }
    home.change { $0 = origin.baseURL }
    let secrets = ["X-Key", "Authorization", "Cookie"]
    for (path, isHome) in [("/same", true), ("/away", false), ("/back", false)] {
      origin.forgetExchanges()
      let answer = await answer(
        to: HTTPRequest(
          url: try origin.url(path), headers: ["Cookie": "c", "X-B": "b"],
          credentials: ["X-Key": "k", "Authorization": "t"]))
      expect(answer, 401, to: path)
      expect(
        answer.heads.first?.redirection?.leftOrigin == !isHome,
        "\(path): the head says\(isHome ? "" : " not") that it is of another origin")
      let end = (path == "/away" ? other : origin).exchanges.last?.request
      for name in secrets {
        expect(
          (end?.headers[name] != nil) == isHome,
          "\(path): \(name) was\(isHome ? " not" : "") sent to the end of the redirects")
      }
      expect(end?.headers["X-B"] == "b", "\(path): X-B, no secret, was lost")
    }
    for exchange in other.exchanges {
      let leaked = secrets.filter { exchange.request.headers[$0] != nil }
      expect(leaked.isEmpty, "another origin received \(leaked)")
    }
  }
}
