import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct ListedFlightsTests {
  let flights = Flights<Int, Int>(FlightClock(ManualClock()))

  private func enter(_ key: Int, _ freshness: Freshness = .any) -> FlightCaller<Int, Int>? {
    flights.enter(key, Lookup(freshness: freshness))
  }

  private func leave(_ caller: FlightCaller<Int, Int>?) {
    if let caller { caller.flight.leave(0, caller.priority) }
  }

  private var keys: [Int] {
    flights.records().compactMap { $0.key as? Int }
  }

  @Test func `all flights are listed in the order in which they came, with their callers`() {
    let callers = [enter(1), enter(2), enter(1), enter(1, .reload), enter(3)]

    #expect(keys == [1, 2, 1, 3])
    #expect(flights.records().map(\.callers) == [2, 1, 1, 1])

    leave(callers[1])
    leave(callers[0])
    #expect(keys == [1, 1, 3])
    flights.detach(1)
    #expect(keys == [3])
    // A detached flight is not in the list any more.
    leave(callers[2])
    leave(callers[3])
    #expect(keys == [3])
  }

  @Test func `when all flights are detached, those that come later are listed`() {
    let callers = (0..<100).map { enter($0) }

    flights.detachAll()
    let later = enter(7)
    for caller in callers { leave(caller) }

    #expect(keys == [7])
    leave(later)
    #expect(keys.isEmpty)
  }

  @Test func `a reload that waits for another is counted there only when it is run`() throws {
    func reload(_ caller: FlightCaller<Int, Int>) -> Signal<Int> {
      flights.reload(1, .shared(.reload, caller.flight.handle)) { _ in .never }
    }
    // The second asks for a reload once the first one has begun.
    reload(try #require(enter(1, .reload))).subscribe()
    let second = reload(try #require(enter(1, .reload)))

    // A get that is nested too deeply never runs its signal.
    #expect(flights.records().map(\.callers) == [1, 1])
    let subscription = second.subscribe()
    #expect(flights.records().map(\.callers) == [2, 1])
    subscription.dispose()
    #expect(flights.records().map(\.callers) == [1, 1])
  }

  @Test func `a removal of everything that an assignment has overtaken leaves that flight alone`() {
    let callers = (0..<1_000).map { enter($0) }
    let removal = Revision.next()
    flights.assign(500, .never, .next())

    flights.detachAll(upTo: removal)

    #expect(keys == [500])
    flights.detachAll(upTo: .next())
    #expect(keys.isEmpty && callers.count == 1_000)
  }

  @Test func `thousands of flights are found, joined and left, each by its key`() {
    let callers = (0..<10_000).map { enter($0) }
    let joined = (0..<10_000).map { enter($0) }
    #expect(callers.allSatisfy { $0?.isNew == true } && joined.allSatisfy { $0?.isNew == false })

    for key in 0..<9_990 {
      leave(callers[key])
      leave(joined[key])
    }

    #expect(keys == Array(9_990..<10_000))
    #expect(enter(9_995)?.isNew == false && enter(5)?.isNew == true)
  }
}
