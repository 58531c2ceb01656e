import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct BatchedTests {
  let table = ObjectIdentifier(BatchedTests.self)
  let batch = Batch<String, Int>(in: ObjectIdentifier(BatchedTests.self), Scheduler(ManualClock()))

  private func enter(_ key: String, max: Int = 9) -> (number: Int, isFull: Bool)? {
    let observer = Observer<Int>(next: { _ in }, other: { _ in })
    return batch.enter(key, BatchCaller(observer: observer, lifetime: Lifetime()), max: max)
  }

  @Test func `a caller that leaves twice takes no other caller of its key along`() throws {
    let other = try #require(enter("b"))
    let first = try #require(enter("a"))
    #expect(batch.leave("a", first.number) == false)
    let second = try #require(enter("a"))

    #expect(batch.leave("a", first.number) == nil)

    #expect(batch.isFlight(of: "a", in: table))
    #expect(batch.leave("a", second.number) == false)
    #expect(!batch.isFlight(of: "a", in: table))
    #expect(batch.leave("b", other.number) == true)
    let isClosed = enter("a") == nil
    #expect(isClosed)
  }

  @Test func `a caller that has been answered does not leave any more`() throws {
    let answered = try #require(enter("a"))
    let waiting = try #require(enter("b"))
    #expect(batch.beginCall() == ["a", "b"])

    batch.receive(["a": 1])

    #expect(batch.leave("a", answered.number) == nil)
    #expect(batch.leave("b", waiting.number) == true)
  }

  @Test func `keys whose callers have left do not fill a batch`() throws {
    _ = enter("a", max: 3)
    for key in ["b", "c", "b"] {
      let entered = try #require(enter(key, max: 3))
      #expect(!entered.isFull)
      #expect(batch.leave(key, entered.number) == false)
    }

    let last = try #require(enter("b", max: 2))

    #expect(last.isFull)
    #expect(batch.beginCall() == ["a", "b"])
    #expect(batch.beginCall() == [])
  }
}
