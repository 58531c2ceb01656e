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
  ///   - size: The bytes of a range.
  /// - Throws: ``LostResumePoint`` if the answer can't be continued, because the resource has
  ///   changed or only a new request can tell.
  func sendInRanges(
    _ request: HTTPRequest, from earlier: ResumePoint? = nil, size: Int = RangeSequence.size
  ) -> Signal<HTTPPart> {
    Signal { observer, lifetime in
      let course = RangeSequence(from: earlier, size: size)
      RangedTransfer(request, course, self, observer, lifetime).run()
    }
  }
}

/// A transfer that sends one request after another.
private final class RangedTransfer: Sendable {
  private let request: HTTPRequest
  private let transport: any HTTPTransport
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
    _ downstream: Observer<HTTPPart>, _ lifetime: Lifetime
  ) {
    self.request = request
    self.transport = transport
    self.downstream = downstream
    self.lifetime = lifetime
    state = Locked(State(course: course))
  }

  func run() {
    while let next = nextRequest() {
      let upstream = lifetime.child()
      transport.send(next).run(observer(upstream), upstream)
    }
  }

  private func nextRequest() -> HTTPRequest? {
    state.withLock { state in
      guard state.hasMore, !lifetime.isEnded else {
        state.isAsking = false
        return nil
      }
      (state.isAsking, state.hasMore) = (true, false)
      return state.course.next(of: request)
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
      obey(state.withLock { $0.course.receive(head) }, upstream)
    case .body(let bytes):
      if state.withLock({ $0.course.receive(byteCount: bytes.count) }) {
        downstream.next(part)
      } else {
        let reason = "more than the bytes of its Content-Range"
        fail(TransferError.invalidResponse(reason: reason), upstream)
      }
    }
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
    if state.withLock({ $0.course.isOver }) { downstream.completed() } else { goOn(from: upstream) }
  }

  private func fail(_ error: any Error, _ upstream: Lifetime) {
    upstream.end()
    downstream.failed(error)
  }
}
