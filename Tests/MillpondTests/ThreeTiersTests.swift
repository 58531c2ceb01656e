import Dispatch
import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

/// The promises of memory over disk over network.
@Suite final class ThreeTiersTests {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("ThreeTiers-\(UUID().uuidString)")
  let memory = MemoryCache<URL, Data>(costLimit: .mebibytes(1)) { $0.count }
  let disk: DiskCache

  init() {
    disk = DiskCache(directory: folder, byteLimit: .mebibytes(16))
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  /// Memory over disk over the network, shared while in flight.
  func tiers(
    over network: some Source<URL, Data> = HTTPSource()
  ) -> some Cache<URL, Data> {
    memory.layered(over: disk.mapKeys { $0.absoluteString }.layered(over: network))
      .reusingInFlight()
  }

  /// Returns the disk's value after all writes to it; nil if there is none.
  func stored(_ url: URL) async throws -> Data? {
    try await disk.flush().value
    return try await disk.get(url.absoluteString).valueIfAny
  }

  @Test func `a hundred simultaneous asks are one request`() async throws {
    let hold = ResponseHold()
    let origin = try LoopbackServer { _ in Response(body: [1, 2, 3]).held(by: hold) }
    let url = try origin.url("/a")
    let tiers = tiers()
    let answers = (0..<100).map { _ in Recorder<Data>() }

    await withTaskGroup { group in
      for answer in answers { group.addTask { answer.subscribe(to: tiers.get(url)) } }
    }
    #expect(await origin.eventually { $0.exchanges.count == 1 })
    hold.release()

    for answer in answers { try await answer.ended() }
    #expect(answers.allSatisfy { $0.values == [Data([1, 2, 3])] && $0.violations.isEmpty })
    #expect(origin.exchanges.count == 1)
  }

  @Test func `an ask between the miss of the disk and the start of the network joins`()
    async throws
  {
    let origin = try LoopbackServer { _ in Response(body: [1]) }
    let url = try origin.url("/a")
    let late = Recorder<Data>()
    let network = Interposed(HTTPSource())
    let tiers = tiers(over: network)
    network.onGet { elsewhere { late.subscribe(to: tiers.get(url)) } }

    let first = Recorder<Data>().subscribe(to: tiers.get(url))

    try await first.ended()
    try await late.ended()
    #expect(late.values == [Data([1])])
    #expect(network.asks == 1)
    #expect(origin.exchanges.count == 1)
  }

  @Test func `the last one leaving closes the connection and the next one starts anew`()
    async throws
  {
    let hold = ResponseHold()
    let origin = try LoopbackServer { _ in Response(body: [1]).held(by: hold) }
    let url = try origin.url("/a")
    let tiers = tiers()
    let answers = (0..<10).map { _ in Recorder<Data>().subscribe(to: tiers.get(url)) }
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    for answer in answers { answer.dispose() }

    #expect(await origin.wasClosedByClient())
    #expect(await origin.eventually { $0.openConnections == 0 })
    #expect(answers.allSatisfy { $0.events.isEmpty })
    hold.release()
    #expect(try await tiers.get(url).value == Data([1]))
    #expect(origin.exchanges.count == 2)
  }

  @Test func `one leaves and the others are served`() async throws {
    let hold = ResponseHold()
    let origin = try LoopbackServer { _ in Response(body: [1]).held(by: hold) }
    let url = try origin.url("/a")
    let tiers = tiers()
    let leaver = Recorder<Data>().subscribe(to: tiers.get(url))
    let stayer = Recorder<Data>().subscribe(to: tiers.get(url))
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    leaver.dispose()
    hold.release()

    try await stayer.ended()
    #expect(stayer.values == [Data([1])])
    #expect(leaver.events.isEmpty)
    #expect(origin.exchanges.count == 1)
  }

  @Test func `a value found below is stored above`() async throws {
    let origin = try LoopbackServer { _ in Response(headers: ["ETag": "\"7\""], body: [1]) }
    let url = try origin.url("/a")

    _ = try await tiers().get(url).value

    #expect(memory.now(url, Lookup()) == Data([1]))
    #expect(try await stored(url) == Data([1]))
    let stamped = try await memory.getStamped(url, Lookup()).value
    #expect(stamped.validator?.entityTag == "\"7\"")
  }

  @Test func `a value on disk needs no request, and memory has it after that`() async throws {
    let network = Interposed(HTTPSource())
    let url = try #require(URL(string: "http://nowhere.invalid/a"))
    try await disk.set(Data([2]), for: url.absoluteString).value

    #expect(try await tiers(over: network).get(url).value == Data([2]))

    #expect(network.asks == 0)
    #expect(memory.now(url, Lookup()) == Data([2]))
  }

  @Test func `progress reaches every caller that joined`() async throws {
    let hold = ResponseHold()
    let origin = try LoopbackServer { _ in
      Response(body: Array(repeating: 1, count: 10)).held(by: hold, afterBodyBytes: 4)
    }
    let url = try origin.url("/a")
    let tiers = tiers()
    let first = Recorder<Data>()
    let second = Recorder<Data>()

    first.subscribe(to: tiers.get(url)) { event in
      guard case .progress(let progress) = event, progress.completed == 4 else { return }
      second.subscribe(to: tiers.get(url)) { event in
        if case .progress = event { hold.release() }
      }
    }

    try await first.ended()
    try await second.ended()
    #expect(first.progress.contains(.init(completed: 4, total: 10)))
    #expect(second.progress.contains(.init(completed: 4, total: 10)))
    #expect(first.values == second.values)
    #expect(origin.exchanges.count == 1)
  }

  @Test(arguments: ["/status", "/cut"])
  func `a failed fetch is not remembered`(path: String) async throws {
    let isHealed = Flag()
    let origin = try LoopbackServer { _ in
      if isHealed.isSet { return Response(body: [1]) }
      if path == "/status" { return Response(status: 500) }
      return .scripted([.text("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n123"), .close])
    }
    let url = try origin.url(path)
    let tiers = tiers()
    let failed = Recorder<Data>().subscribe(to: tiers.get(url))
    try await failed.ended()
    #expect(failed.failure != nil)
    #expect(memory.count == 0)
    #expect(try await stored(url) == nil)

    isHealed.set()

    #expect(try await tiers.get(url).value == Data([1]))
  }

  @Test func `a write during a fetch wins`() async throws {
    let hold = ResponseHold()
    let origin = try LoopbackServer { _ in Response(body: [1]).held(by: hold) }
    let url = try origin.url("/a")
    let tiers = tiers()
    let older = Recorder<Data>().subscribe(to: tiers.get(url))
    #expect(await origin.eventually { $0.exchanges.count == 1 })

    try await tiers.set(Data([2]), for: url).value
    hold.release()

    try await older.ended()
    #expect(older.values == [Data([1])])
    #expect(try await tiers.get(url).value == Data([2]))
    #expect(try await stored(url) == Data([2]))
  }

  @Test func `the expression of the design compiles and answers`() async throws {
    let origin = try LoopbackServer { _ in Response(body: Array("{\"name\":\"a\"}".utf8)) }
    struct User: Codable, Sendable, Equatable {
      let name: String
    }
    let users = MemoryCache<URL, User>(costLimit: .mebibytes(64), cost: \.name.utf8.count)
      .layered(
        over: disk.mapKeys(\.absoluteString)
          .layered(over: HTTPSource().limited(to: 6))
          .mapValues(.json())
          .reusingInFlight())
    let user = Recorder<User>()

    user.subscribe(to: users.get(try origin.url("/a"), priority: .high))

    try await user.ended()
    #expect(user.values == [User(name: "a")])
    #expect(try await users.get(origin.url("/a")).value == User(name: "a"))
    #expect(origin.exchanges.count == 1)
  }
}

/// A source that counts its gets, and acts before it passes each on.
private final class Interposed<Base: Source>: Source {
  private let base: Base
  private let state = Watched<(asks: Int, act: (@Sendable () -> Void)?)>((0, nil))

  init(_ base: Base) {
    self.base = base
  }

  var asks: Int { state.state.asks }

  func onGet(_ act: @escaping @Sendable () -> Void) {
    state.change { $0.act = act }
  }

  func get(_ key: Base.Key, _ lookup: Lookup) -> Signal<Base.Value> {
    .deferred {
      let act = self.state.change { state in
        state.asks += 1
        defer { state.act = nil }
        return state.act
      }
      act?()
      return self.base.get(key, lookup)
    }
  }
}

/// Set once.
private final class Flag: Sendable {
  private let state = Watched(false)

  var isSet: Bool { state.state }

  func set() {
    state.change { $0 = true }
  }
}

/// Performs `body` on another thread and waits for it: its gets have nothing to do with the work of
/// the present one.
private func elsewhere(_ body: @escaping @Sendable () -> Void) {
  let isDone = DispatchSemaphore(value: 0)
  DispatchQueue(label: "elsewhere").async {
    body()
    isDone.signal()
  }
  isDone.wait()
}
