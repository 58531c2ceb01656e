/// The course of a body that is requested in ranges, and the check that each answer belongs to it.
///
/// From outside it looks like one answer, whose head is made from that of the first range.
struct RangeSequence: Sendable {
  /// The bytes of a range: so many that the waits between ranges cost little, and not too many to be
  /// in memory for a slow receiver.
  static let size = 16 << 20

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
  private let size: Int
  private var version: ResourceVersion?

  /// The position of the first missing byte, and the end of the range that was requested.
  private var next: Int
  private var end = 0

  /// The size of the body in bytes; nil before the first range.
  private var total: Int?

  /// Whether the whole body is requested, or comes, because of an earlier answer.
  private var isWhole = false

  init(from earlier: ResumePoint? = nil, size: Int = Self.size) {
    self.earlier = earlier
    self.size = size
    version = earlier?.version
    next = earlier?.byteCount ?? 0
  }

  var isOver: Bool { isWhole || total == nil || next < end || next == total }

  /// Returns the request for the next range, or for the whole.
  mutating func next(of request: HTTPRequest) -> HTTPRequest {
    if isWhole { return request }
    end = min(next + size, total ?? .max)
    return request.asking(forBytes: "\(next)-\(end - 1)", of: version)
  }

  mutating func receive(_ head: HTTPHead) -> Verdict {
    if isWhole || head.isInterim { return .passes(head) }
    return total == nil ? begin(head) : goOn(head)
  }

  /// Receives bytes; false if they are more than were requested.
  mutating func receive(byteCount: Int) -> Bool {
    if isWhole { return true }
    guard byteCount <= end - next else { return false }
    next += byteCount
    return true
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
