import Foundation
import MillpondCore
import MillpondSignals

/// A limit on the requests to one host that a session has at a time; the others wait, by priority.
///
/// Cancelling a request costs a session time: about a millisecond on Linux, during which it does
/// nothing else. A request that waits here is cancelled at no cost, however many are at once.
final class HostConnectionLimit: Sendable {
  private let count: Int
  private let hosts = Locked<[String: Host]>([:])

  init(_ count: Int) {
    self.count = count
  }

  var hostCount: Int { hosts.withLock { $0.count } }

  /// Returns the answer to a request that is sent when its host has a free slot.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - send: Sends the request, and calls its argument when the session has finished with it. A
  ///     cancelled request keeps its slot until then, so that callers that leave one after another
  ///     start no further requests.
  func answer(
    to request: HTTPRequest,
    _ send: @escaping @Sendable (_ finished: @escaping @Sendable () -> Void) -> Signal<HTTPPart>
  ) -> Signal<HTTPPart> {
    Signal { [self] observer, lifetime in
      let name = "\(request.url.host() ?? ""):\(request.url.port ?? 0)"
      let slot = Lifetime()
      slot.onEnd { self.leave(name) }
      let isSent = Locked(false)
      _ = enter(name).take(request.lookup, slot) { _ in
        isSent.withLock { $0 = true }
        if lifetime.isEnded { slot.end() } else { send { slot.end() }.run(observer, lifetime) }
      }
      lifetime.onEnd {
        if !isSent.withLock({ $0 }) { slot.end() }
      }
    }
  }

  private func enter(_ name: String) -> ConcurrencyLimiter {
    hosts.withLock { hosts in
      let host = hosts[name] ?? Host(slots: ConcurrencyLimiter(count, reserved: 0), requests: 0)
      hosts[name] = Host(slots: host.slots, requests: host.requests + 1)
      return host.slots
    }
  }

  private func leave(_ name: String) {
    hosts.withLock { hosts in
      guard let host = hosts[name] else { return }
      hosts[name] =
        host.requests == 1 ? nil : Host(slots: host.slots, requests: host.requests - 1)
    }
  }

  private struct Host: Sendable {
    let slots: ConcurrencyLimiter
    let requests: Int
  }
}
