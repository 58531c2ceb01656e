import Foundation
import Millpond
import MillpondTesting
import RandomHistories

/// An origin by HTTP that wants credentials, which are forgotten when the scope ends.
struct DrawnAccount {
  let scene: HistoryScene<String, String>

  init(_ scene: HistoryScene<String, String>) {
    self.scene = scene
  }

  /// Returns the source; a failure of the origin is a refusal of the credentials.
  func make() -> AnyCache<String, String> {
    let origin = URL(string: "http://origin") ?? URL(filePath: "/")
    let authorization = HTTPAuthorization(for: origin, clock: scene.clock) { _ in
      ["Authorization": "Bearer of the user"]
    }
    scene.isScoped = true
    scene.signOuts.append { authorization.forget() }
    let source = HTTPSource(
      transport: Transport(origin: scene.origin), authorization: authorization, clock: scene.clock
    ) { (key: String) in
      guard let url = URL(string: "http://origin/\(key)") else { throw URLError(.badURL) }
      return HTTPRequest(url: url)
    }
    return AnyCache(source.mapValues(.text))
  }
}

/// Carries requests to the origin of a scene.
private struct Transport: HTTPTransport {
  let origin: HistoryOrigin<String, String>

  func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    origin.get(request.url.lastPathComponent)
      .flatMap { value in
        Signal.just(HTTPPart.head(HTTPHead(status: 200)))
          .concat(.just(.body(Data(value.utf8))))
      }
      .recover { _ in .just(.head(HTTPHead(status: 401))) }
  }
}
