import MillpondSignals

/// Which bytes of a body are asked for, one range after the other, and whether what comes is of them.
///
/// From outside it looks as if one answer came: its head is made of that of the first range.
struct RangeCourse: Sendable {
  /// What is asked for.
  enum Question: Equatable, Sendable {
    /// These bytes; of no other version, if one is named.
    case range(Range<Int>, of: ResourceVersion?)

    /// The body as a whole, because of what was answered.
    case whole
  }

  /// What becomes of a head.
  enum Verdict: Sendable {
    case passes(HTTPHead)

    /// It begins what goes on with the answer.
    case goesOn

    /// It is no use, and the body is to be asked for as a whole.
    case needsWhole

    /// The answer can't be gone on with.
    case breaks(any Error)
  }

  private let earlier: ResumePoint?
  private var version: ResourceVersion?
  private var size: RangeSize

  /// The first byte that has not come, and the range that was asked for.
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

  mutating func ask(at time: Duration) -> Question {
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

  /// Takes bytes in; false if these are more than were asked for.
  mutating func receive(byteCount: Int) -> Bool {
    if isWhole { return true }
    guard byteCount <= end - next else { return false }
    next += byteCount
    return true
  }

  /// Notes how long a subscriber needed for bytes.
  mutating func taken(in time: Duration) { heldUp += time }

  mutating func completed(at time: Duration) {
    size.received(
      next - first, in: time - answered, after: answered - asked, heldUp: heldUp)
  }

  private mutating func begin(_ head: HTTPHead) -> Verdict {
    guard let range = fitting(head) else {
      // Who asks for the rest has a way of its own to find out that there is none.
      if earlier == nil, head.status == 206 || head.status == 416 { return needWhole() }
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
    // Other bytes, or fewer: it has changed.
    case 200..<300, 416: LostResumePoint()
    // What an origin can't answer now it may be able to answer later, from here.
    case 429, 500...: TransferError.truncated(received: next, expected: total)
    // Asking for the whole would be refused as well.
    default: TransferError.status(code: head.status, headers: head.headers)
    }
  }

  private mutating func needWhole() -> Verdict {
    isWhole = true
    return .needsWhole
  }

  private func fitting(_ head: HTTPHead) -> ContentRange? {
    guard head.status == 206, !head.headers.areOfEncoded,
      let range = ContentRange(head.headers), range.first == next, range.last < end,
      version.map({ $0.isOf(head, total: range.total) }) ?? true
    else { return nil }
    return range
  }
}

extension HTTPHead {
  /// The head that the answer would have if all of it came at once.
  fileprivate func whole(of total: Int, from first: Int) -> HTTPHead {
    var headers = headers
    headers.set("\(total - first)", for: "Content-Length")
    // It would override the length, and the end of a range is not that of the body.
    headers.set(nil, for: "Transfer-Encoding")
    headers.set(first == 0 ? nil : "bytes \(first)-\(total - 1)/\(total)", for: "Content-Range")
    return HTTPHead(status: first == 0 ? 200 : 206, headers: headers)
  }
}

/// How many bytes are asked for at a time: so many that to ask anew costs little beside them, and
/// never more than may be in memory before somebody takes them.
struct RangeSize: Sendable {
  /// The time that the bytes of a range are to take, in waits for them: 3 % of the time is lost.
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

  /// Notes the wait for a range, the time that its bytes took, and how much of that the subscriber held
  /// them up.
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
