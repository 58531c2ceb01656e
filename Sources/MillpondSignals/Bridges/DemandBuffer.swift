/// Values that wait until a subscriber asks for them, with the end behind them.
///
/// For publishers of Combine, whose subscribers state how many values they accept.
struct DemandBuffer<Value: Sendable> {
  private var events = Queue<Event<Value>>()
  private var isClosed = false

  /// The number of values that the subscriber still accepts; nil for any number.
  private var demand: Int? = 0

  /// Appends a value or the end; does nothing after the end.
  mutating func append(_ event: Event<Value>) {
    if isClosed { return }
    isClosed = event.isTerminal
    events.append(event)
  }

  /// Adds to the number of values that the subscriber accepts.
  ///
  /// - Parameter count: The number to add; nil for any number. Less than zero adds nothing.
  mutating func add(demand count: Int?) {
    guard let count, let present = demand else {
      demand = nil
      return
    }
    let (sum, isOverflow) = present.addingReportingOverflow(max(0, count))
    demand = isOverflow ? nil : sum
  }

  /// Removes and returns what the subscriber receives now; nil if it has to wait.
  ///
  /// The end follows the last value, and needs no demand.
  mutating func popFirst() -> Event<Value>? {
    guard let event = events.first, event.isTerminal || demand != 0 else { return nil }
    if !event.isTerminal { demand = demand.map { $0 - 1 } }
    return events.popFirst()
  }
}
