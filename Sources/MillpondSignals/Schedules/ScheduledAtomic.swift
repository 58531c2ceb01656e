#if MILLPOND_SCHEDULES
  public import Synchronization

  /// An atomic value whose operations are points of schedules.
  ///
  /// It is always in the strongest order: schedules don't show what a weaker one allows.
  @usableFromInline
  package struct AtomicValue<Value: AtomicRepresentable & Sendable>: ~Copyable, Sendable {
    @usableFromInline let content: ScheduledContent<Value>

    @usableFromInline
    package init(_ value: Value) {
      content = ScheduledContent(value)
    }

    @usableFromInline
    package borrowing func load(
      ordering: AtomicLoadOrdering, file: StaticString = #fileID, line: UInt = #line
    ) -> Value {
      content.access(.load, CodeLine(file: file, line: line)) { $0 }
    }

    @usableFromInline
    package borrowing func store(
      _ value: Value, ordering: AtomicStoreOrdering,
      file: StaticString = #fileID, line: UInt = #line
    ) {
      content.access(.change, CodeLine(file: file, line: line)) { $0 = value }
    }

    @usableFromInline
    package borrowing func exchange(
      _ value: Value, ordering: AtomicUpdateOrdering,
      file: StaticString = #fileID, line: UInt = #line
    ) -> Value {
      content.access(.change, CodeLine(file: file, line: line)) { present in
        defer { present = value }
        return present
      }
    }
  }

  extension AtomicValue where Value: Equatable {
    @usableFromInline
    package borrowing func compareExchange(
      expected: Value, desired: Value, ordering: AtomicUpdateOrdering,
      file: StaticString = #fileID, line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
      content.access(.change, CodeLine(file: file, line: line)) { present in
        let original = present
        if original == expected { present = desired }
        return (original == expected, original)
      }
    }

    @usableFromInline
    package borrowing func weakCompareExchange(
      expected: Value, desired: Value, ordering: AtomicUpdateOrdering,
      file: StaticString = #fileID, line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
      compareExchange(
        expected: expected, desired: desired, ordering: ordering, file: file, line: line)
    }
  }

  extension AtomicValue where Value: FixedWidthInteger {
    @usableFromInline
    @discardableResult
    package borrowing func add(
      _ operand: Value, ordering: AtomicUpdateOrdering,
      file: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
      change(CodeLine(file: file, line: line)) { $0 + operand }
    }

    @usableFromInline
    @discardableResult
    package borrowing func wrappingAdd(
      _ operand: Value, ordering: AtomicUpdateOrdering,
      file: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
      change(CodeLine(file: file, line: line)) { $0 &+ operand }
    }

    @usableFromInline
    @discardableResult
    package borrowing func subtract(
      _ operand: Value, ordering: AtomicUpdateOrdering,
      file: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
      change(CodeLine(file: file, line: line)) { $0 - operand }
    }

    @usableFromInline
    @discardableResult
    package borrowing func bitwiseOr(
      _ operand: Value, ordering: AtomicUpdateOrdering,
      file: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
      change(CodeLine(file: file, line: line)) { $0 | operand }
    }

    @usableFromInline
    @discardableResult
    package borrowing func max(
      _ operand: Value, ordering: AtomicUpdateOrdering,
      file: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
      change(CodeLine(file: file, line: line)) { Swift.max($0, operand) }
    }

    private borrowing func change(
      _ line: CodeLine, _ next: (Value) -> Value
    ) -> (oldValue: Value, newValue: Value) {
      content.access(.change, line) { present in
        let former = present
        present = next(former)
        return (former, present)
      }
    }
  }

  /// The content of an atomic value, with an identity.
  @usableFromInline
  final class ScheduledContent<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) {
      mutex = Mutex(value)
    }

    func access<Result>(
      _ point: SchedulePoint, _ line: CodeLine, _ body: (inout Value) -> Result
    ) -> Result {
      LogicalThread.current?.pass(point, at: line)
      let result = mutex.withLock { value in Unchecked(result: body(&value)) }
      return result.result
    }

    private struct Unchecked<Result>: @unchecked Sendable {
      let result: Result
    }
  }
#endif
