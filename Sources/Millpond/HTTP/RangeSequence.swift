import MillpondSignals

/// The course of a body that is requested in ranges, and the check that each answer belongs to it.
///
/// From outside it looks like one answer, whose head is made from that of the first range.
struct RangeSequence: Sendable {
  /// The next request.
  enum NextRequest: Equatable, Sendable {
    /// A range of bytes, of this version if there is one.
    case range(Range<Int>, of: ResourceVersion?)

    /// The whole body, because of an earlier answer.
    case whole
  }

  /// The verdict on a head.
  enum Verdict: Sendable {
    case passes(HTTPHead)

    /// The head begins the continuation of the answer.
    case goesOn

    /// The head is of no use, and the whole body has to be requested.
    case needsWhole

    /// The answer can't be continued.
    case breaks(any Error)
  }

  private let earlier: ResumePoint?
  private var version: ResourceVersion?
  private var size: RangeSize

  /// The position of the first missing byte, and the range that was requested.
  private var next: Int
  private var first = 0
  private var end = 0

  /// The size of the body in bytes; nil before the first range.
  private var total: Int?
  private var isWhole = false
  private var asked = Duration.zero
  private var answered = Duration.zero
  private var heldUp = Duration.zero

  init(from earlier: ResumePoint? = nil, _ size: RangeSize = RangeSize()) {
    self.earlier = earlier
    self.size = size
    version = earlier?.version
    next = earlier?.byteCount ?? 0
  }

  var isOver: Bool { isWhole || total == nil || next < end || next == total }

  mutating func ask(at time: Duration) -> NextRequest {
    (asked, heldUp) = (time, .zero)
    if isWhole { return .whole }
    (first, end) = (next, min(next + size.byteCount, total ?? .max))
    return .range(first..<end, of: version)
  }

  mutating func receive(_ head: HTTPHead, at time: Duration) -> Verdict {
    if isWhole || head.isInterim { return .passes(head) }
    answered = time
    return total == nil ? begin(head) : goOn(head)
  }

  /// Receives bytes; false if they are more than were requested.
  mutating func receive(byteCount: Int) -> Bool {
    if isWhole { return true }
    guard byteCount <= end - next else { return false }
    next += byteCount
    return true
  }

  /// Records the time that a subscriber took for bytes.
  mutating func taken(in time: Duration) { heldUp += time }

  mutating func completed(at time: Duration) {
    size.received(
      next - first, in: time - answered, after: answered - asked, heldUp: heldUp)
  }

  private mutating func begin(_ head: HTTPHead) -> Verdict {
    guard let range = fitting(head) else {
      // A request for the rest has its own way to find out that there is none.
      if earlier == nil, StatusMeaning.asksForWhole(head.status) { return needWhole() }
      isWhole = true
      return .passes(head)
    }
    let whole = head.whole(of: range.total, from: next)
    version = version ?? ResourceVersion(whole)
    guard version != nil || range.last + 1 == range.total else { return needWhole() }
    (total, end) = (range.total, range.last + 1)
    return .passes(whole)
  }

  private mutating func goOn(_ head: HTTPHead) -> Verdict {
    guard let range = fitting(head), range.total == total else { return .breaks(failure(head)) }
    end = range.last + 1
    return .goesOn
  }

  private func failure(_ head: HTTPHead) -> any Error {
    switch head.status {
    // Other bytes, or fewer: the resource has changed.
    case 200..<300, 416: LostResumePoint()
    // A request for the whole body would be refused as well; a later one may go on from here.
    default: TransferError.status(code: head.status, headers: head.headers)
    }
  }

  private mutating func needWhole() -> Verdict {
    isWhole = true
    return .needsWhole
  }

  private func fitting(_ head: HTTPHead) -> ContentRange? {
    head.range(after: next, of: version).flatMap { $0.last < end ? $0 : nil }
  }
}

extension HTTPHead {
  /// Returns the head that the answer would have if it were sent as a whole.
  fileprivate func whole(of total: Int, from first: Int) -> HTTPHead {
    var headers = headers
    headers.set("\(total - first)", for: "Content-Length")
    // It would override the length, and the end of a range is not the end of the body.
    headers.set(nil, for: "Transfer-Encoding")
    headers.set(first == 0 ? nil : "bytes \(first)-\(total - 1)/\(total)", for: "Content-Range")
    return HTTPHead(status: first == 0 ? 200 : 206, headers: headers)
  }
}

/// The size of the ranges: large enough that the waits between them cost little, and never more
/// than may be held in memory for a slow receiver.
struct RangeSize: Sendable {
  /// The time that receiving a range should take, as a multiple of the wait for its first byte;
  /// with 32, waiting takes 3 % of the time.
  private static let share = 32.0

  private let least: Int
  private let greatest: Int
  private(set) var byteCount: Int

  /// The shortest wait for a range so far; longer waits are due to chance.
  private var wait: Duration?

  /// Creates a size.
  ///
  /// - Parameters:
  ///   - least: The bytes that may be in memory for a slow receiver.
  ///   - greatest: The bytes that may be in memory once, when a fast receiver becomes slow; reached
  ///     only if the network is distant and fast.
  init(least: Int = 4 << 20, greatest: Int = 64 << 20) {
    (self.least, self.greatest) = (least, greatest)
    byteCount = least
  }

  /// Records the wait for a range, the time that its bytes took, and the part of it during which
  /// the subscriber held them up.
  mutating func received(
    _ count: Int, in time: Duration, after wait: Duration, heldUp: Duration
  ) {
    let wait = min(wait, self.wait ?? wait)
    self.wait = wait
    // The network is not the bottleneck: more bytes in memory would be of no use.
    if heldUp * 8 > time || wait <= .zero { return byteCount = least }
    let wanted = time > .zero ? Double(count) * (wait / time) * Self.share : .infinity
    byteCount = Int(min(max(wanted, Double(least)), Double(min(greatest, 2 * byteCount))))
  }
}
