public import MillpondSignals

/// A limit on the time for which a value is stored.
///
/// As a setting of a cache it limits the age of all its values. A single value has one of its own
/// if its caller or its source gives it: ``Cache/set(_:for:timeToLive:)``,
/// ``Stamped/init(_:age:validator:timeToLive:)``.
public enum TimeToLive: Sendable, Hashable {
  /// No limit.
  case forever

  /// The value expires after this time; zero or less expires it at once.
  case after(Duration)

  /// The value expires after so many seconds.
  @inlinable
  public static func seconds(_ seconds: some BinaryInteger) -> TimeToLive {
    .after(.seconds(Int64(clamping: seconds)))
  }

  /// The value expires after so many minutes.
  @inlinable
  public static func minutes(_ minutes: some BinaryInteger) -> TimeToLive {
    .after(.minutes(minutes))
  }

  /// The value expires after so many hours.
  @inlinable
  public static func hours(_ hours: some BinaryInteger) -> TimeToLive {
    .after(.hours(hours))
  }

  /// The value expires after so many days of 24 hours.
  @inlinable
  public static func days(_ days: some BinaryInteger) -> TimeToLive {
    .after(.days(days))
  }

  /// Returns the time to live that ends at an instant of a clock; it is over at once if the instant
  /// has passed.
  ///
  /// The time is computed by this call. The caches that store the value measure it by their own
  /// clocks from then on.
  public static func until<C: Clock<Duration>>(_ instant: C.Instant, of clock: C) -> TimeToLive {
    .after(clock.now.duration(to: instant))
  }

  /// Whether a value with this time to live is not to be stored.
  @inlinable
  public var isOverAtOnce: Bool {
    if case .after(let duration) = self { duration <= .zero } else { false }
  }

  /// The nanoseconds of the time to live of a cache; `Int64.max` for no limit.
  @usableFromInline var nanoseconds: Int64 {
    if case .after(let duration) = self { Int64(duration.nanoseconds) } else { .max }
  }

  /// The nanoseconds of the time to live of a single value; a value without one has `Int64.max`.
  @usableFromInline var ownNanoseconds: Int64 {
    min(nanoseconds, Self.unlimited)
  }

  /// The nanoseconds of a value that is never to expire, whatever the time to live of the cache.
  @inlinable static var unlimited: Int64 { .max - 1 }

  /// Returns the deadline of a value born at `start`, in nanoseconds; `Int64.max` for none.
  ///
  /// - Parameters:
  ///   - start: The time of birth in nanoseconds.
  ///   - share: The share of the duration that counts, from 0 to 1. A product with less than 1 is
  ///     less than 2^63.
  @usableFromInline
  func deadline(from start: Int64, share: Double = 1) -> Int64 {
    Self.deadline(after: nanoseconds, from: start, share: share)
  }

  /// Returns the deadline of a value that lives for so many nanoseconds from `start` on;
  /// `Int64.max` for none.
  @usableFromInline
  static func deadline(after life: Int64, from start: Int64, share: Double = 1) -> Int64 {
    if life >= unlimited { return .max }
    let nanoseconds = share < 1 ? Int64(Double(life) * share) : life
    let (deadline, isBeyond) = start.addingReportingOverflow(nanoseconds)
    return isBeyond ? .max : deadline
  }
}
