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
      // The file until it is known whether the answer continues it.
      let unused = SerialState(earlier)
      checked(limits, accepted, resuming: earlier?.resumePoint).run(
        Observer(
          next: { part in
            switch part {
            case .head(let head):
              let file = exchange(&unused.value, with: nil)?.file
              note(head.version(resuming: earlier?.resumePoint))
              observer.next(.stamp(head.stamped((), resuming: earlier?.resumePoint)))
              if head.continued(earlier?.resumePoint) == nil {
                file?.giveBack()
              } else if let file {
                observer.next(.start(file))
              }
            case .body(let bytes): observer.next(.bytes(bytes))
            }
          },
          other: { event in
            if case .failed(let error) = event, !error.leavesRest { note(nil) }
            // Before the end is sent, so that a caller that tries again finds the bytes.
            if event.isTerminal { unused.value?.file.giveBack() }
            observer.other(event)
          }), lifetime)
    }
  }
}
