import Testing

@testable import MillpondSignals

@Suite struct DemandBufferTests {
  private func deliveries(of queue: inout DemandBuffer<Int>) -> [String] {
    var all: [String] = []
    while let event = queue.popFirst() {
      switch event {
      case .next(let value): all.append("\(value)")
      case .progress: all.append("progress")
      case .failed(let error): all.append("\(error)")
      case .completed: all.append("end")
      }
    }
    return all
  }

  @Test func `values wait for demand, and the end waits behind them`() {
    var queue = DemandBuffer<Int>()
    for value in 1...4 { queue.append(.next(value)) }
    queue.append(.completed)

    #expect(deliveries(of: &queue) == [])
    queue.add(demand: 1)
    #expect(deliveries(of: &queue) == ["1"])
    queue.add(demand: 2)
    #expect(deliveries(of: &queue) == ["2", "3"])
    queue.add(demand: 1)
    #expect(deliveries(of: &queue) == ["4", "end"])
    #expect(deliveries(of: &queue) == [])
  }

  @Test func `the end needs no demand`() {
    var queue = DemandBuffer<Int>()
    queue.append(.failed(Trouble.some))

    #expect(deliveries(of: &queue) == ["some"])
  }

  @Test func `demand adds up before values arrive`() {
    var queue = DemandBuffer<Int>()
    queue.add(demand: 1)
    queue.add(demand: 2)
    for value in 1...4 { queue.append(.next(value)) }

    #expect(deliveries(of: &queue) == ["1", "2", "3"])
  }

  @Test func `demand for any number stays, and demand below zero takes nothing away`() {
    var queue = DemandBuffer<Int>()
    queue.add(demand: 2)
    queue.add(demand: -1)
    for value in 1...3 { queue.append(.next(value)) }
    #expect(deliveries(of: &queue) == ["1", "2"])

    queue.add(demand: nil)
    queue.add(demand: 1)
    for value in 4...1_000 { queue.append(.next(value)) }
    #expect(deliveries(of: &queue) == (3...1_000).map { "\($0)" })
  }

  @Test func `demand beyond the greatest number is demand for any number`() {
    var queue = DemandBuffer<Int>()
    queue.add(demand: .max)
    queue.add(demand: .max)
    queue.append(.next(1))

    #expect(deliveries(of: &queue) == ["1"])
  }

  @Test func `values and ends after the end are dropped`() {
    var queue = DemandBuffer<Int>()
    queue.add(demand: nil)
    queue.append(.completed)
    queue.append(.next(1))
    queue.append(.failed(Trouble.some))

    #expect(deliveries(of: &queue) == ["end"])
    queue.append(.next(2))
    #expect(deliveries(of: &queue) == [])
  }
}
