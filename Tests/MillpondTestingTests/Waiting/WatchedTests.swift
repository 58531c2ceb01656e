import MillpondTesting
import Testing

@Suite struct WatchedTests {
  let count = Watched(0)

  @Test func `waiting for what is true already returns at once`() async throws {
    try await count.wait(for: "zero") { $0 == 0 }
  }

  @Test func `a change wakes those that waited for it, and not the others`() async throws {
    let one = Task { [count] in try await count.wait(for: "one") { $0 >= 1 } }
    let two = Task { [count] in try await count.wait(for: "two") { $0 >= 2 } }

    count.change { $0 = 1 }
    try await one.value
    count.change { $0 = 2 }

    try await two.value
  }

  @Test func `change gives what its body gives`() {
    let old = count.change { count in
      defer { count = 5 }
      return count
    }

    #expect(old == 0)
    #expect(count.state == 5)
  }

  @Test func `a cancelled wait throws`() async {
    let task = Task { [count] in try await count.wait(for: "one") { $0 == 1 } }

    task.cancel()

    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func `an error says what was awaited and what there was`() {
    let error = WaitError.timedOut(awaited: "the end", state: "[next 1]")

    #expect("\(error)".contains("for the end; there was [next 1]"))
  }
}
