/// A time in nanoseconds that is cheap to read, and a few milliseconds behind where the clock is the
/// continuous one.
@usableFromInline
package struct CoarseTime: Sendable {
  @usableFromInline package let now: @Sendable () -> Int64

  @usableFromInline
  package init(_ clock: some Clock<Duration>) {
    if clock is ContinuousClock {
      now = { coarseNanoseconds() }
    } else {
      let now = Timeline(clock).now
      self.now = { @Sendable in Int64(now().nanoseconds) }
    }
  }

  package init(_ timeline: Timeline) {
    now = { Int64(timeline.now().nanoseconds) }
  }

  /// When something was born that has this age now.
  @usableFromInline
  package static func birth(of age: Duration, _ now: Int64) -> Int64 {
    now.subtractingReportingOverflow(Int64(age.nanoseconds)).partialValue
  }
}
