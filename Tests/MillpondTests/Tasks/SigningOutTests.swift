import Foundation
import LoopbackServer
import Millpond
import MillpondEntityArchive
import MillpondTesting
import Testing

/// The code of the page "Signing out".
@Suite(.timeLimit(.minutes(3))) struct SigningOutTests {
  struct Profile: Codable, Sendable {
    var name: String
  }

  struct API: Sendable {
    let url: URL
    func token(insteadOf refused: String?) async throws -> String { "Bearer secret" }
    func profile() async throws -> Profile { Profile(name: "Ada") }
  }

  // snippet
  struct UserData: Sendable {
    let session = CacheScope()
    let messages: AnyCache<URL, Data>
    let profile: Multiplexer<Profile>
    let store: EntityStore

    init(of api: API, in folder: URL) {
      let account = HTTPAuthorization(for: api.url, in: session) { refused in
        ["Authorization": try await api.token(insteadOf: refused?["Authorization"])]
      }
      let partials = PartialTransfers(
        directory: folder.appending(path: "partials"), byteLimit: .mebibytes(16))
      let disk = DiskCache(
        directory: folder.appending(path: "messages"), byteLimit: .mebibytes(64))
      messages = AnyCache(
        MemoryCache(costLimit: .mebibytes(8), cost: \.count)
          .layered(over: disk.mapKeys(\.absoluteString))
          .layered(over: HTTPSource(authorization: account, resuming: partials))
          .reusingInFlight()
          .scoped(to: session))
      profile = Multiplexer(persistence: .disk("profile", in: folder), scope: session) {
        try await api.profile()
      }
      store = EntityStore(scope: session)
    }
  }
  // end

  struct Drafts: Sendable {
    let count = Watched(0)
    func deleteFiles() throws { count.change { $0 += 1 } }
  }

  static func join(_ data: UserData, _ drafts: Drafts) -> Disposable {
    // snippet
    let membership = data.session.add(isPersistent: true) {
      .async { try drafts.deleteFiles() }
    }
    // end
    return membership
  }

  static func signOut(_ data: UserData, _ log: (String) -> Void) async {
    // snippet
    do {
      try await data.session.end()
    } catch {
      log("not everything is erased: \(error)")  // call end() again
    }
    // end
  }

  struct Item: Entity {
    let id: Int
  }

  private let scene = GuideScene()

  @Test func `nothing of the user is left, and a waiting caller fails`() async throws {
    let hold = ResponseHold()
    let origin = try LoopbackServer { request in
      request.path == "/slow"
        ? Response(body: [1]).held(by: hold) : Response(body: Array("private words".utf8))
    }
    let data = UserData(of: API(url: try origin.url("/")), in: scene.folder)
    let drafts = Drafts()
    _ = Self.join(data, drafts)
    let url = try origin.url("/message")
    _ = try await data.messages.get(url).value
    _ = try await data.profile.get().value
    data.store.set(Item(id: 1))
    try await data.messages.flush()
    let waiting = Recorder<Data>().subscribe(to: data.messages.get(try origin.url("/slow")))
    #expect(await origin.eventually { $0.exchanges.count == 2 })

    await Self.signOut(data) { Issue.record("\($0)") }
    hold.release()

    #expect(waiting.failure is CacheError)
    #expect(try await data.messages.get(url, freshness: .cachedOnly).valueIfAny == nil)
    #expect(data.profile.current == nil)
    #expect(data.store.count == 0)
    #expect(drafts.count.state == 1)
    let files = FileManager.default.enumerator(atPath: scene.folder.path)
    for name in files?.compactMap({ $0 as? String }) ?? [] {
      let bytes = try? Data(contentsOf: scene.folder.appendingPathComponent(name))
      #expect(bytes?.range(of: Data("private words".utf8)) == nil, "\(name)")
    }
  }
}
