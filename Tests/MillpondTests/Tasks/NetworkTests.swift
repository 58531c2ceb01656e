import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

/// The code of the page "The network".
@Suite(.timeLimit(.minutes(3))) struct NetworkTests {
  struct Signer: Sendable {
    let base: URL
    let tokens = Watched(0)

    func url(of id: Int) async throws -> URL { base.appending(path: "\(id)") }

    func token(isRefused: Bool) async throws -> String {
      tokens.change { $0 += 1 }
      return isRefused ? "new" : "old"
    }
  }

  static func sources(_ signer: Signer) -> (HTTPSource<URL>, HTTPSource<Int>) {
    // snippet
    let pages = HTTPSource()  // keys are URLs
    let photos = HTTPSource { (id: Int) in  // or anything that a request can be made of
      HTTPRequest(url: try await signer.url(of: id), identity: "photo \(id)")
    }
    // end
    return (pages, photos)
  }

  static func ada(_ base: URL) async throws -> User {
    // snippet
    let api = HTTPSource(baseURL: base, headers: ["Accept-Language": "de"])
    let users = api.json(User.self)
    let ada = try await users.get("users/7").value
    // end
    return ada
  }

  static func patient(_ pages: HTTPSource<URL>) -> some Source<URL, Data> {
    // snippet
    let patient =
      pages
      .limited(to: 6, reserved: 2)  // two of the six are for normal and high priority
      .retrying(.backoff(attempts: 3, from: .milliseconds(200), upTo: .seconds(10)).onlyTransient)
      .timingOut(after: .seconds(30))
    // end
    return patient
  }

  static func small() -> HTTPSource<URL> {
    // snippet
    let small = HTTPSource<URL>(
      limits: HTTPLimits(
        idleTimeout: .seconds(15), totalTimeout: .seconds(60), byteLimit: .mebibytes(4)))
    // end
    return small
  }

  static func mine(_ api: URL, _ signer: Signer, _ session: CacheScope) -> HTTPSource<URL> {
    // snippet
    let account = HTTPAuthorization(for: api, in: session) { refused in
      ["Authorization": "Bearer \(try await signer.token(isRefused: refused != nil))"]
    }
    let mine = HTTPSource(authorization: account)
    // end
    return mine
  }

  static func resuming(in folder: URL) -> HTTPSource<URL> {
    // snippet
    let partials = PartialTransfers(directory: folder, byteLimit: .mebibytes(64))
    let resuming = HTTPSource<URL>(resuming: partials)
    // end
    return resuming
  }

  struct Order: Codable, Sendable {
    var item: String
  }

  struct Receipt: Codable, Sendable {
    var number: Int
  }

  static func send(_ order: Order, to api: URL, _ mine: HTTPSource<URL>) async throws -> Receipt {
    // snippet
    let answer = try await mine.send(.post(api, .json(order))).value
    let receipt = try answer.json(Receipt.self)
    // end
    return receipt
  }

  @Test func `a photo is found by its number, through all policies`() async throws {
    let origin = try LoopbackServer { Response(body: Array($0.path.utf8)) }
    let signer = Signer(base: try origin.url("/photos"))
    let (pages, photos) = Self.sources(signer)

    #expect(try await photos.get(7).value == Data("/photos/7".utf8))
    let url = try origin.url("/a")
    #expect(try await Self.patient(pages).get(url).value == Data("/a".utf8))
    let scene = GuideScene()
    #expect(try await Self.resuming(in: scene.folder).get(url).value == Data("/a".utf8))
  }

  @Test func `a body over the limit fails`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Array(repeating: 1, count: 5 << 20)) }
    let url = try origin.url("/a")

    await #expect(throws: TransferError.self) { try await Self.small().get(url).value }
  }

  @Test func `refused credentials are obtained anew, and an order is sent once`() async throws {
    let origin = try LoopbackServer { request in
      request.headers["Authorization"] == "Bearer new"
        ? Response(body: Array(#"{"number":3}"#.utf8)) : Response(status: 401)
    }
    let api = try origin.url("/orders")
    let signer = Signer(base: api)
    let mine = Self.mine(api, signer, CacheScope())
    #expect(try await mine.get(api).value.count == 12)
    #expect(signer.tokens.state == 2)

    let receipt = try await Self.send(Order(item: "tea"), to: api, mine)

    #expect(receipt.number == 3)
    #expect(origin.exchanges.filter { $0.request.method == "POST" }.count == 1)
  }
}
