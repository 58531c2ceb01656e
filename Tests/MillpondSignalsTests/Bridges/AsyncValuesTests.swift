import MillpondSignals
import MillpondTesting
import Testing

@Suite struct AsyncValuesTests {
  let source = TestSource<Int>()

  @Test func `a loop gets all values and ends with the signal`() async throws {
    var values: [Int] = []

    for try await value in Signal.of(1, 2, 3).values { values.append(value) }

    #expect(values == [1, 2, 3])
  }

  @Test func `values that arrive before they are taken are kept`() async throws {
    let values = source.signal.values
    for value in 0..<100 { source.next(value) }
    source.completed()

    var taken: [Int] = []
    for try await value in values { taken.append(value) }

    #expect(taken == Array(0..<100))
  }

  @Test func `a failure is thrown into the loop`() async throws {
    let values = source.signal.values
    source.next(1)
    source.failed(Trouble.some)
    let taken = Journal<Int>()

    await #expect(throws: Trouble.some) {
      for try await value in values { taken.write(value) }
    }

    #expect(taken.entries == [1])
  }

  @Test func `leaving the loop disposes`() async throws {
    func first() async throws -> Int? {
      let values = source.signal.values
      source.next(1)
      for try await value in values { return value }
      return nil
    }

    #expect(try await first() == 1)
    try await source.disposals(count: 1)
  }

  @Test func `cancelling the loop's task disposes`() async throws {
    let task = Task { [source] in
      for try await _ in source.signal.values {}
    }
    try await source.subscriptions(count: 1)

    task.cancel()

    try await source.disposals(count: 1)
    _ = await task.result
  }
}
