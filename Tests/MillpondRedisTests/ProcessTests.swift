import Foundation
import LocalRedis
import Millpond
import MillpondRedis
import TestTraits
import Testing

/// Two and four processes with memory over one server.
@Suite(.withServer, .heavy) struct ProcessTests {
  let scene: RedisScene

  init() throws { scene = try RedisScene() }

  @Test(arguments: [2, 4])
  func `after a set and one round trip no process has the old value`(count: Int) throws {
    let workers = try (0..<count).map { _ in try WorkerProcess(scene.server) }
    for worker in workers { try worker.tracks() }
    var hits = 0
    for round in 0..<200 {
      let writer = workers[round % count]
      if round % 5 == 4 {
        #expect(try writer("remove k") == "done")
      } else {
        #expect(try writer("set k \(round)") == "done")
      }
      let expected = round % 5 == 4 ? "nothing" : "\(round)"
      for worker in workers {
        if worker !== writer { _ = try worker("pass") }
        let seen = try worker("peek k")
        #expect(seen == "nothing" || seen == expected)
        #expect(try worker("get k") == expected)
        // So that each of them has something to forget.
        if try worker("peek k") == expected { hits += 1 }
      }
    }
    #expect(hits > 200)
  }

  @Test func `of a thousand misses in four processes one fetches`() throws {
    let workers = try (0..<4).map { _ in try WorkerProcess(scene.server) }
    for worker in workers { try worker.tracks() }
    for worker in workers { #expect(try worker("ask k 250") == "asked") }
    while try fetches(of: workers) == 0 {}
    // Everybody has been refused the lease at least once.
    for _ in 0..<20 { for worker in workers { _ = try worker("pass") } }
    #expect(try fetches(of: workers) == 1)

    for worker in workers { _ = try worker("supply v") }

    for worker in workers { #expect(try worker("answers") == "250 v") }
    #expect(try fetches(of: workers) == 1)
    #expect(try scene.server.command("KEYS", "lease:*") == "")
  }

  @Test func `a dead holder delays others no longer than the lease`() throws {
    let (holder, other) = (
      try WorkerProcess(scene.server, lease: 500), try WorkerProcess(scene.server, lease: 500)
    )
    _ = try holder("ask k 1")
    while try holder("fetches") != "1" {}
    _ = try other("ask k 1")
    holder.kill()

    while try other("fetches") != "1" {}
    _ = try other("supply v")
    #expect(try other("answers") == "1 v")
  }

  @Test func `a server of the tests ends with its process, also with one that is killed`()
    async throws
  {
    let owner = try WorkerProcess(["serve"])
    let port = try #require(UInt16(owner.greeting))
    let redis = try Redis(.tcp(host: "127.0.0.1", port: port))
    try await redis.ping().value

    owner.kill()

    while (try? await redis.ping().value) != nil {}
  }

  private func fetches(of workers: [WorkerProcess]) throws -> Int {
    try workers.reduce(0) { $0 + (Int(try $1("fetches")) ?? 0) }
  }
}
