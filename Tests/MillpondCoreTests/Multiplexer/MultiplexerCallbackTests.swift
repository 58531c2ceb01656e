import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Multiplexers over signals and completion handlers, polite and impolite.
@Suite struct MultiplexerCallbackTests {
  typealias Handler = @Sendable (Result<Int, any Error>) -> Void

  let handlers = Locked<[Handler]>([])

  private func multiplexer() -> Multiplexer<Int> {
    Multiplexer(callback: { [handlers] answer in handlers.withLock { $0.append(answer) } })
  }

  private func map() -> MultiplexerMap<String, Int> {
    MultiplexerMap(callback: { [handlers] _, answer in handlers.withLock { $0.append(answer) } })
  }

  private func answer(_ result: Result<Int, any Error>) {
    for handler in handlers.withLock({ $0 }) { handler(result) }
  }

  /// Releases the handlers; returns their number.
  private func drop() -> Int {
    let dropped = handlers.withLock { handlers in
      defer { handlers = [] }
      return handlers
    }
    return dropped.count
  }

  @Test func `the function is called once for all callers, and its value is kept`() {
    let (one, map) = (multiplexer(), map())
    let callers = (0..<3).flatMap { _ in
      [Recorder<Int>().subscribe(to: one.get()), Recorder<Int>().subscribe(to: map.get("a"))]
    }
    #expect(handlers.withLock { $0.count } == 2)

    answer(.success(7))

    #expect(callers.allSatisfy { $0.transcript == ["next 7", "completed"] })
    #expect(one.current == 7)
    #expect(map.current("a") == 7)
  }

  @Test func `a failure of the function fails its callers unchanged`() {
    let caller = Recorder<Int>().subscribe(to: multiplexer().get())

    answer(.failure(Refused()))

    #expect(caller.failure is Refused)
  }

  @Test func `the second call of a handler is ignored`() {
    let (one, map) = (multiplexer(), map())
    let callers = [
      Recorder<Int>().subscribe(to: one.get()), Recorder<Int>().subscribe(to: map.get("a")),
    ]

    answer(.success(1))
    answer(.success(2))
    answer(.failure(Refused()))

    #expect(callers.allSatisfy { $0.transcript == ["next 1", "completed"] })
    #expect(callers.allSatisfy { $0.violations.isEmpty })
    #expect(one.current == 1)
    #expect(map.current("a") == 1)
  }

  @Test func `a dropped handler fails the callers, and its error says where it was made`() {
    let callers = [
      Recorder<Int>().subscribe(to: multiplexer().get()),
      Recorder<Int>().subscribe(to: map().get("a")),
    ]

    #expect(drop() == 2)

    for caller in callers {
      #expect("\(String(describing: caller.failure))".contains("never ended"))
      #expect("\(String(describing: caller.failure))".contains("MultiplexerCallbackTests.swift"))
    }
  }

  @Test func `a call after the last caller has left stores nothing`() {
    let one = multiplexer()
    let caller = Recorder<Int>().subscribe(to: one.get())
    caller.dispose()

    answer(.success(7))

    #expect(one.current == nil)
    #expect(caller.values.isEmpty)
  }

  @Test func `a handler may be called inside the function`() async throws {
    let one = Multiplexer<Int> { answer in answer(.success(1)) }
    let map = MultiplexerMap<Int, Int> { key, answer in answer(.success(key)) }

    #expect(try await one.get().value == 1)
    #expect(try await map.get(2).value == 2)
  }

  @Test func `a map over signals runs one for all callers of a key`() {
    let source = TestSource<Int>()
    let map = MultiplexerMap<Int, Int>(signal: { _ in source.signal })
    let callers = (0..<2).map { _ in Recorder<Int>().subscribe(to: map.get(1)) }

    source.next(5)
    source.completed()

    #expect(callers.allSatisfy { $0.values == [5] })
    #expect(source.subscriptions == 1)
  }
}
