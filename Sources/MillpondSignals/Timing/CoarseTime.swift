/// A source of time in nanoseconds that is cheap to read.
///
/// For the continuous clock it may lag by a few milliseconds.
@usableFromInline
package struct CoarseTime: Sendable {
  @usableFromInline package let now: @Sendable () -> Int64

  @usableFromInline
  package init(_ clock: some Clock<Duration>) {
    if clock is ContinuousClock {
      now = { coarseNanoseconds() }
    } else {
      now = Self(Scheduler(clock)).now
    }
  }

  package init(_ scheduler: Scheduler) {
    now = { Int64(scheduler.now().nanoseconds) }
  }

  /// Returns the birth time of an entry that has this age now.
  @usableFromInline
  package static func birth(of age: Duration, _ now: Int64) -> Int64 {
    now.subtractingReportingOverflow(Int64(age.nanoseconds)).partialValue
  }
}

/// A source of time in nanoseconds with the full resolution of its clock, for durations below a
/// millisecond.
@usableFromInline
package struct ExactTime: Sendable {
  package let now: @Sendable () -> Int64

  package init(_ clock: some Clock<Duration>) {
    if clock is ContinuousClock {
      now = { exactNanoseconds() }
    } else {
      now = Self(Scheduler(clock)).now
    }
  }

  package init(_ scheduler: Scheduler) {
    now = { Int64(scheduler.now().nanoseconds) }
  }
}
