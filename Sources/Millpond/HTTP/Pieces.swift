import Foundation
import MillpondSignals

extension Signal<HTTPPart> {
  /// The body in the pieces in which it comes; a failure if they were not a whole answer.
  func pieces(_ limits: HTTPLimits) -> Signal<Data> {
    Signal<Data> { observer, lifetime in
      let passing = Passing(observer, lifetime.child(), Tally(limits))
      run(passing.observer, passing.upstream)
    }
  }
}

/// Sendable because the upstream calls serially, and nobody else does.
private final class Passing: @unchecked Sendable {
  let upstream: Lifetime
  private let downstream: Observer<Data>
  private var tally: Tally
  private var isOver = false

  init(_ downstream: Observer<Data>, _ upstream: Lifetime, _ tally: Tally) {
    self.downstream = downstream
    self.upstream = upstream
    self.tally = tally
  }

  var observer: Observer<HTTPPart> {
    Observer(next: { self.receive($0) }, other: { self.receive($0) })
  }

  private func receive(_ part: HTTPPart) {
    if isOver { return }
    do throws(TransferError) {
      switch part {
      case .head(let head): try tally.receive(head)
      case .body(let bytes):
        try tally.receive(byteCount: bytes.count)
        downstream.next(bytes)
      }
      downstream.progress(tally.progress)
    } catch {
      end(.failed(error))
    }
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
    upstream.end()
    downstream.other(event)
  }
}
