import Foundation
import MillpondCore
import MillpondSignals

extension Signal<HTTPPart> {
  /// One value of all parts, if they are a whole answer; once they can't be, the upstream stops.
  func gathered(byteLimit: Int) -> Signal<Stamped<Data>> {
    Signal<Stamped<Data>> { observer, lifetime in
      let gathering = Gathering(observer, lifetime.child(), Reception(byteLimit: byteLimit))
      run(gathering.observer, gathering.upstream)
    }
  }
}

/// Sendable because the upstream calls serially, and nobody else does.
private final class Gathering: @unchecked Sendable {
  let upstream: Lifetime
  private let downstream: Observer<Stamped<Data>>
  private var reception: Reception
  private var isOver = false

  init(_ downstream: Observer<Stamped<Data>>, _ upstream: Lifetime, _ reception: Reception) {
    self.downstream = downstream
    self.upstream = upstream
    self.reception = reception
  }

  var observer: Observer<HTTPPart> {
    Observer(next: { self.receive($0) }, other: { self.receive($0) })
  }

  private func receive(_ part: HTTPPart) {
    if isOver { return }
    do {
      if let progress = try reception.received(part) { downstream.progress(progress) }
    } catch {
      fail(error)
    }
  }

  private func receive(_ event: Event<Never>) {
    if isOver { return }
    switch event {
    case .progress: break  // The bytes say it.
    case .failed(let error): fail(error)
    case .completed: finish()
    }
  }

  private func finish() {
    do {
      let answer = try reception.finished()
      isOver = true
      upstream.end()
      downstream.next(answer)
      downstream.completed()
    } catch {
      fail(error)
    }
  }

  private func fail(_ error: any Error) {
    isOver = true
    upstream.end()
    downstream.failed(error)
  }
}
