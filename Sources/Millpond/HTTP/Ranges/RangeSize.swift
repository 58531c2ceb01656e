/// How many bytes are asked for at a time: so many that to ask anew costs little beside them, and
/// never more than may be in memory before somebody takes them.
struct RangeSize: Sendable {
  /// How many times longer the bytes of a range are to take than the wait for them: 3 % of the time is
  /// lost.
  private static let share = 32.0

  private let least: Int
  private let greatest: Int
  private(set) var byteCount: Int

  /// The shortest wait for a range so far: what is more is chance.
  private var wait: Duration?

  /// - Parameters:
  ///   - least: So many bytes may be in memory before whoever is slow has taken them.
  ///   - greatest: So many may be, for once, when somebody becomes slow who has been fast; it is
  ///     reached only where the network is far away and fast.
  init(least: Int = 4 << 20, greatest: Int = 64 << 20) {
    (self.least, self.greatest) = (least, greatest)
    byteCount = least
  }

  /// Takes in how long a range was waited for, how long its bytes took, and how much of that whoever
  /// takes them held them up.
  mutating func received(
    _ count: Int, in time: Duration, after wait: Duration, heldUp: Duration
  ) {
    let wait = min(wait, self.wait ?? wait)
    self.wait = wait
    // The network is not what is waited for: more in memory would be of no use.
    if heldUp * 8 > time || wait <= .zero { return byteCount = least }
    let wanted = time > .zero ? Double(count) * (wait / time) * Self.share : .infinity
    byteCount = Int(min(max(wanted, Double(least)), Double(min(greatest, 2 * byteCount))))
  }
}
