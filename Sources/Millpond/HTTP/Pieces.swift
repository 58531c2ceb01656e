import Foundation
import MillpondSignals

extension Signal<HTTPPart> {
  /// The body in the pieces in which it comes; a failure if they were not a whole answer.
  ///
  /// - Parameters:
  ///   - earlier: What is there of the body, if the rest was asked for: it is the first part, or is
  ///     given back.
  ///   - note: Is told whose bytes follow, if the rest of them can be asked for later, and nil as soon
  ///     as it can't.
  func pieces(
    _ limits: HTTPLimits, resuming earlier: PartialStream? = nil,
    note: @escaping @Sendable (Edition?) -> Void = { _ in }
  ) -> Signal<FilePart> {
    Signal<FilePart> { observer, lifetime in
      let passing = Passing(observer, lifetime.child(), Tally(limits), earlier, note)
      run(passing.observer, passing.upstream)
    }
  }
}

/// Sendable because the upstream calls serially, and nobody else does.
private final class Passing: @unchecked Sendable {
  let upstream: Lifetime
  private let downstream: Observer<FilePart>
  private let note: @Sendable (Edition?) -> Void
  private var earlier: PartialStream?
  private var tally: Tally
  private var isOver = false

  init(
    _ downstream: Observer<FilePart>, _ upstream: Lifetime, _ tally: Tally,
    _ earlier: PartialStream?, _ note: @escaping @Sendable (Edition?) -> Void
  ) {
    self.downstream = downstream
    self.upstream = upstream
    self.tally = tally
    self.earlier = earlier
    self.note = note
  }

  var observer: Observer<HTTPPart> {
    Observer(next: { self.receive($0) }, other: { self.receive($0) })
  }

  private func receive(_ part: HTTPPart) {
    if isOver { return }
    do throws(TransferError) {
      switch part {
      case .head(let head):
        try tally.receive(head, resuming: earlier?.beginning)
        if tally.head != nil { begin(head) }
      case .body(let bytes):
        try tally.receive(byteCount: bytes.count)
        downstream.next(.bytes(bytes))
      }
      downstream.progress(tally.progress)
    } catch {
      end(.failed(error))
    }
  }

  private func begin(_ head: HTTPHead) {
    if head.status == 206, let earlier {
      note(earlier.beginning.edition)
      downstream.next(.validator(earlier.beginning.edition.validator))
      downstream.next(.beginning(earlier.file))
    } else {
      earlier?.file.giveBack()
      note(tally.framing.canBeResumed ? Edition(head) : nil)
      if let validator = Validator(head.headers) { downstream.next(.validator(validator)) }
    }
    earlier = nil
  }

  private func receive(_ event: Event<Never>) {
    if isOver { return }
    switch event {
    case .progress: break  // The bytes say it.
    case .failed: end(event)
    case .completed:
      do throws(TransferError) {
        _ = try tally.finished()
        end(.completed)
      } catch {
        end(.failed(error))
      }
    }
  }

  private func end(_ event: Event<Never>) {
    isOver = true
    if case .failed(let error) = event, !error.leavesRest { note(nil) }
    // Before the end is told: who asks again on it is to find the bytes.
    earlier?.file.giveBack()
    upstream.end()
    downstream.other(event)
  }
}
