// The program of the README stands here, so that it has to compile. `SnippetTests` compares.

// snippet
import Foundation
import Millpond

struct User: Codable, Sendable { let name: String }
// end

// swift-format-ignore: NeverForceUnwrap
func readmeProgram() async throws {
  // snippet
  let session = CacheScope()
  let memory = MemoryCache<String, User>(countLimit: 1_000)
  let disk = DiskCache(named: "users", byteLimit: .mebibytes(16)).json(User.self)
  let users = HTTPSource(baseURL: URL(string: "https://api.github.com/users")!).json(User.self)
    .remembered(in: memory.layered(over: disk), FreshnessPolicy(freshFor: .minutes(10)))
    .scoped(to: session)

  // What is stored at once, and a new value if that is old.
  let shown = users.observe("apple").subscribe(onNext: { print($0.value?.name ?? "…") })
  _ = try? await users.refresh("apple").value  // pulled down; offline the old value stays
  shown.dispose()  // off the screen
  try await session.end().value  // signed out: nothing of it is in memory, in files or on its way
  // end
}
