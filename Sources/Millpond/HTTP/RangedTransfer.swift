import MillpondSignals

extension HTTPTransport {
  /// Sends a request in ranges, each after the subscriber has taken the one before; the answer is
  /// that of ``send(_:)``.
  ///
  /// So at most one range is under way, even with a transport that stores bytes faster than they
  /// are taken. If the origin does not support ranges, or sends no strong validator to match them
  /// by, the whole body is requested.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - earlier: The resume point, if the rest of a body is requested.
  ///   - size: The size of the ranges.
  ///   - timers: The clock for measuring waits.
  /// - Throws: ``LostResumePoint`` if the answer can't be continued, because the resource has
  ///   changed or only a new request can tell.
  func sendInRanges(
    _ request: HTTPRequest, from earlier: ResumePoint? = nil, _ size: RangeSize = RangeSize(),
    by timers: SharedTimers
  ) -> Signal<HTTPPart> {
    Signal { observer, lifetime in
      let course = RangeSequence(from: earlier, size)
      RangedTransfer(request, course, self, timers, observer, lifetime).run()
    }
  }
}

/// A transfer that sends one request after another.
private final class RangedTransfer: Sendable {
  private let request: HTTPRequest
  private let transport: any HTTPTransport
  private let timers: SharedTimers
  private let downstream: Observer<HTTPPart>
  private let lifetime: Lifetime
  private let state: Locked<State>

  private struct State: Sendable {
    var course: RangeSequence

    /// Whether a request is being sent, and whether another one follows: a loop, so that the stack
    /// stays flat however many ranges come at once.
    var isAsking = false
    var hasMore = true
  }

  init(
    _ request: HTTPRequest, _ course: RangeSequence, _ transport: any HTTPTransport,
    _ timers: SharedTimers, _ downstream: Observer<HTTPPart>, _ lifetime: Lifetime
  ) {
    self.request = request
    self.transport = transport
    self.timers = timers
    self.downstream = downstream
    self.lifetime = lifetime
    state = Locked(State(course: course))
  }

  func run() {
    while let next = nextRequest() {
      let upstream = lifetime.child()
      transport.send(request.asking(next)).run(observer(upstream), upstream)
    }
  }

  private func nextRequest() -> RangeSequence.NextRequest? {
    let now = timers.now()
    return state.withLock { state in
      guard state.hasMore, !lifetime.isEnded else {
        state.isAsking = false
        return nil
      }
      (state.isAsking, state.hasMore) = (true, false)
      return state.course.ask(at: now)
    }
  }

  /// Sends the next request, unless the loop does so already.
  private func goOn(from upstream: Lifetime) {
    upstream.end()
    let isAsking = state.withLock { state in
      state.hasMore = true
      return state.isAsking
    }
    if !isAsking { run() }
  }

  private func observer(_ upstream: Lifetime) -> Observer<HTTPPart> {
    Observer(
      next: { if !upstream.isEnded { self.receive($0, upstream) } },
      other: { if !upstream.isEnded { self.receive($0, upstream) } })
  }

  private func receive(_ part: HTTPPart, _ upstream: Lifetime) {
    switch part {
    case .head(let head):
      let now = timers.now()
      obey(state.withLock { $0.course.receive(head, at: now) }, upstream)
    case .body(let bytes):
      if state.withLock({ $0.course.receive(byteCount: bytes.count) }) {
        pass(part)
      } else {
        let reason = "more than the bytes of its Content-Range"
        fail(TransferError.invalidResponse(reason: reason), upstream)
      }
    }
  }

  private func pass(_ part: HTTPPart) {
    let start = timers.now()
    downstream.next(part)
    let time = timers.now() - start
    state.withLock { $0.course.taken(in: time) }
  }

  private func obey(_ verdict: RangeSequence.Verdict, _ upstream: Lifetime) {
    switch verdict {
    case .passes(let head): downstream.next(.head(head))
    case .goesOn: break
    case .needsWhole: goOn(from: upstream)
    case .breaks(let error): fail(error, upstream)
    }
  }

  private func receive(_ event: Event<Never>, _ upstream: Lifetime) {
    guard case .completed = event else { return downstream.other(event) }
    let now = timers.now()
    let isOver = state.withLock { state in
      state.course.completed(at: now)
      return state.course.isOver
    }
    if isOver { downstream.completed() } else { goOn(from: upstream) }
  }

  private func fail(_ error: any Error, _ upstream: Lifetime) {
    upstream.end()
    downstream.failed(error)
  }
}

extension HTTPRequest {
  fileprivate func asking(_ next: RangeSequence.NextRequest) -> HTTPRequest {
    guard case .range(let range, let version) = next else { return self }
    return asking(forBytes: "\(range.lowerBound)-\(range.upperBound - 1)", of: version)
  }
}
