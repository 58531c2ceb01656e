/// Values that wait until a subscriber asks for them, with the end behind them.
///
/// For publishers of Combine, whose subscribers state how many values they accept.
struct DemandBuffer<Value, End> {
  /// The next event of a subscriber.
  enum Delivery {
    case value(Value)
    case end(End)
  }

  private var values = Queue<Value>()
  private var end: End?

  /// The number of values that the subscriber still accepts; nil for any number.
  private var demand: Int? = 0

  /// Appends a value; does nothing after the end.
  mutating func append(_ value: Value) {
    if end == nil { values.append(value) }
  }

  /// Appends the end; does nothing after another.
  mutating func finish(_ end: End) {
    if self.end == nil { self.end = end }
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
  mutating func popFirst() -> Delivery? {
    if values.isEmpty {
      defer { end = nil }
      return end.map { .end($0) }
    }
    if demand == 0 { return nil }
    demand = demand.map { $0 - 1 }
    return values.popFirst().map { .value($0) }
  }
}
