import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct FlightCensusTests {
  let flights = Flights<Int, Int>(FlightClock(ManualClock()))

  private func enter(_ key: Int, _ freshness: Freshness = .any) -> FlightCaller<Int, Int>? {
    flights.enter(key, Lookup(freshness: freshness))
  }

  private func leave(_ caller: FlightCaller<Int, Int>?) {
    if let caller { caller.flight.leave(0, caller.priority) }
  }

  private var keys: [Int] {
    flights.census().compactMap { $0.key as? Int }
  }

  @Test func `all flights are listed in the order in which they came, with their callers`() {
    let callers = [enter(1), enter(2), enter(1), enter(1, .reload), enter(3)]

    #expect(keys == [1, 2, 1, 3])
    #expect(flights.census().map(\.callers) == [2, 1, 1, 1])

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

  @Test func `a step comes by a few, however many there are`() {
    let callers = (0..<1_000).map { enter($0) }
    let census = flights.table.withLock { $0.list.beginCensus() }
    var steps: [Int] = []
    while let found = flights.table.withLock({ $0.step(of: census, atMost: 64) }) {
      steps.append(found.count)
    }

    #expect(steps.max() == 64)
    #expect(steps.reduce(0, +) == 1_000)
    #expect(callers.count == 1_000)
    #expect(Flights<Int, Int>.stepSize < 1_000 && flights.census().count == 1_000)
  }

  @Test func `a census ends when all flights are detached, and later ones see what is new`() {
    let callers = (0..<100).map { enter($0) }
    let census = flights.table.withLock { $0.list.beginCensus() }
    let first = flights.table.withLock { $0.step(of: census, atMost: 10) }
    #expect(first?.count == 10)

    flights.detachAll()
    let later = enter(7)
    for caller in callers { leave(caller) }

    let second = flights.table.withLock { $0.step(of: census, atMost: 10) }
    #expect(second == nil)
    #expect(keys == [7])
    leave(later)
    #expect(keys.isEmpty)
  }

  @Test func `a reload that waits for another is counted there only when it is run`() throws {
    func reload(_ caller: FlightCaller<Int, Int>) -> Signal<Stamped<Int>> {
      flights.reload(1, .shared(.reload, caller.flight.handle)) { _ in .never }
    }
    // The second asks for a reload once the first one has begun.
    reload(try #require(enter(1, .reload))).subscribe()
    let second = reload(try #require(enter(1, .reload)))

    // A get that is nested too deeply never runs its signal.
    #expect(flights.census().map(\.callers) == [1, 1])
    let subscription = second.subscribe()
    #expect(flights.census().map(\.callers) == [2, 1])
    subscription.dispose()
    #expect(flights.census().map(\.callers) == [1, 1])
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
    #expect(flights.table.withLock { $0.byKey.tables.count } < 3)
    #expect(enter(9_995)?.isNew == false && enter(5)?.isNew == true)
  }

  @Test(arguments: 0..<20)
  func `a flight that stays is seen once, whatever comes and goes between the steps`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var callers: [Int: FlightCaller<Int, Int>] = [:]
    for key in 0..<100 { callers[key] = enter(key) }
    var staying = Set(0..<100)
    let censuses = (0..<2).map { _ in flights.table.withLock { $0.list.beginCensus() } }
    var seen: [[Int]] = [[], []]
    var isUnderWay = [true, true]

    while isUnderWay.contains(true) {
      let number = Int.random(in: 0...1, using: &random)
      let found = flights.table.withLock { $0.step(of: censuses[number], atMost: 3) }
      isUnderWay[number] = found != nil
      seen[number] += found?.map(\.flight.key) ?? []
      for _ in 0..<2 {
        let key = Int.random(in: 0..<150, using: &random)
        if let caller = callers.removeValue(forKey: key) {
          staying.remove(key)
          if Bool.random(using: &random) { flights.detach(key) }
          leave(caller)
        } else {
          callers[key] = enter(key)
        }
      }
    }

    for seen in seen {
      #expect(staying.isSubset(of: seen))
      #expect(staying.allSatisfy { key in seen.count { $0 == key } == 1 })
    }
    #expect(Set(keys) == Set(callers.keys))
  }
}
