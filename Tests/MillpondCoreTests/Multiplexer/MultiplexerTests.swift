import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct MultiplexerTests {
  let clock = ManualClock()
  let source = TestSource<Int>()
  let multiplexer: Multiplexer<Int>

  init() {
    let source = source
    multiplexer = Multiplexer(clock: clock, signal: { source.signal })
  }

  private func ask() -> Recorder<Int> {
    Recorder().subscribe(to: multiplexer.get())
  }

  private func answer(_ value: Int) {
    source.next(value)
    source.completed()
  }

  @Test func `it is fetched once for all callers, and for half an hour`() {
    let callers = [ask(), ask()]
    answer(1)
    clock.advance(by: .seconds(1_799))
    let later = ask()

    #expect((callers + [later]).allSatisfy { $0.values == [1] && $0.isCompleted })
    #expect(source.subscriptions == 1)
    #expect(multiplexer.current == 1)

    clock.advance(by: .seconds(1))
    _ = ask()
    #expect(source.subscriptions == 2)
  }

  @Test func `a closure that is asynchronous, and one that calls back, are fetched alike`()
    async throws
  {
    let asynchronous = Multiplexer {
      await Task.yield()
      return 7
    }
    let callback = Multiplexer<Int>(signal: {
      .create { observer, _ in
        legacy { result in
          observer.next(result)
          observer.completed()
        }
      }
    })

    #expect(try await asynchronous.get().value == 7)
    #expect(try await callback.get().value == 8)
  }

  private func legacy(_ completion: @escaping @Sendable (Int) -> Void) {
    completion(8)
  }

  @Test func `a stored value is kept, also against an older fetch`() {
    let caller = ask()

    multiplexer.set(5)
    answer(1)

    #expect(caller.values == [1])
    #expect(multiplexer.current == 5)
    #expect(ask().values == [5])
  }

  @Test func `a cleared value is fetched anew, and waiting callers get an answer`() {
    let caller = ask()
    multiplexer.remove()
    let later = ask()
    #expect(source.subscriptions == 2)

    source.runs[0].next(1)
    source.runs[0].completed()
    #expect(caller.values == [1])
    #expect(multiplexer.current == nil)
    source.runs[1].next(2)

    #expect(later.values == [2])
    #expect(multiplexer.current == 2)
  }

  @Test func `a failure is not remembered, and destroys nothing`() {
    _ = ask()
    answer(1)
    clock.advance(by: .seconds(3_600))
    let refused = ask()
    source.failed(Refused())
    let offline = ask()
    source.failed(Offline())

    #expect(refused.failure is Refused)
    #expect(offline.values == [1])
  }

  @Test func `a value may change before it is complete`() {
    let caller = ask()
    source.next(1)
    source.next(2)
    #expect(multiplexer.current == 2)
    source.completed()

    #expect(caller.values == [1, 2])
  }

  @Test func `two of different kinds are waited for together`() async throws {
    let name = Multiplexer { "Ada" }
    let age = Multiplexer { 36 }

    let (first, second) = try await zip(name.get(), age.get()).value

    #expect(first == "Ada")
    #expect(second == 36)
  }
}
