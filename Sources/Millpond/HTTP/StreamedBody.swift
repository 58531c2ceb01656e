import Foundation
import MillpondSignals

extension Signal<HTTPPart> {
  /// Returns the body in pieces as they arrive; fails after them if they are no complete answer.
  ///
  /// - Parameters:
  ///   - limits: The limits on the answer.
  ///   - accepted: The answers that the caller takes.
  ///   - earlier: The file of an earlier transfer, if the rest was requested: it becomes the first
  ///     part, or is given back.
  ///   - note: Receives the version of the bytes that follow if their rest can be requested later,
  ///     and nil once it can't.
  func pieces(
    _ limits: HTTPLimits, _ accepted: AcceptedAnswers = AcceptedAnswers(),
    resuming earlier: PartialStream? = nil,
    note: @escaping @Sendable (ResourceVersion?) -> Void = { _ in }
  ) -> Signal<FileStreamPart> {
    Signal<FileStreamPart> { observer, lifetime in
      let passing = BodyPieceDelivery(
        observer, lifetime.child(), ResponseChecker(limits, accepted), earlier, note)
      run(passing.observer, passing.upstream)
    }
  }
}

private final class BodyPieceDelivery: Sendable {
  let upstream: Lifetime
  private let downstream: Observer<FileStreamPart>
  private let note: @Sendable (ResourceVersion?) -> Void
  private let state: SerialState<State>

  private struct State {
    var earlier: PartialStream?
    var checker: ResponseChecker
    var isOver = false
  }

  init(
    _ downstream: Observer<FileStreamPart>, _ upstream: Lifetime, _ checker: ResponseChecker,
    _ earlier: PartialStream?, _ note: @escaping @Sendable (ResourceVersion?) -> Void
  ) {
    self.downstream = downstream
    self.upstream = upstream
    state = SerialState(State(earlier: earlier, checker: checker))
    self.note = note
  }

  var observer: Observer<HTTPPart> {
    Observer(next: { self.receive($0) }, other: { self.receive($0) })
  }

  private func receive(_ part: HTTPPart) {
    if state.value.isOver { return }
    do throws(TransferError) {
      switch part {
      case .head(let head):
        try state.value.checker.receive(head, resuming: state.value.earlier?.resumePoint)
        if state.value.checker.head != nil { begin(head) }
      case .body(let bytes):
        try state.value.checker.receive(byteCount: bytes.count)
        downstream.next(.bytes(bytes))
      }
      downstream.progress(state.value.checker.progress)
    } catch {
      end(.failed(error))
    }
  }

  private func begin(_ head: HTTPHead) {
    if head.status == 206, let earlier = state.value.earlier {
      note(earlier.resumePoint.version)
      downstream.next(.stamp(head.stamped((), earlier.resumePoint.version.validator)))
      downstream.next(.start(earlier.file))
    } else {
      state.value.earlier?.file.giveBack()
      note(state.value.checker.bodyLength.canBeResumed ? ResourceVersion(head) : nil)
      downstream.next(.stamp(head.stamped((), Validator(head.headers))))
    }
    state.value.earlier = nil
  }

  private func receive(_ event: Event<Never>) {
    if state.value.isOver { return }
    switch event {
    case .progress:
      // Of the request's body; once there is a head, the bytes say it.
      if state.value.checker.head == nil { downstream.other(event) }
    case .failed: end(event)
    case .completed:
      do throws(TransferError) {
        _ = try state.value.checker.finished()
        end(.completed)
      } catch {
        end(.failed(error))
      }
    }
  }

  private func end(_ event: Event<Never>) {
    state.value.isOver = true
    if case .failed(let error) = event, !error.leavesRest { note(nil) }
    // Before the end is sent, so that a caller that tries again finds the bytes.
    state.value.earlier?.file.giveBack()
    upstream.end()
    downstream.other(event)
  }
}
