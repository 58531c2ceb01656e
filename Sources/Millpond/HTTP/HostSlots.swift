import Foundation
import MillpondCore
import MillpondSignals

/// How many requests to one host are with a session at once; the others wait here, the most urgent first.
///
/// A session takes a request back slowly: on Linux about a millisecond each, during which it does nothing
/// else. What waits here is left at no cost, however many leave at once.
final class HostSlots: Sendable {
  private let count: Int
  private let hosts = Locked<[String: Host]>([:])

  init(_ count: Int) {
    self.count = count
  }

  /// How many hosts are being asked.
  var hostCount: Int {
    hosts.withLock { $0.count }
  }

  /// What `send` answers, sent when the host has a slot for the request.
  func answer(
    to request: HTTPRequest, _ send: @escaping @Sendable () -> Signal<HTTPPart>
  ) -> Signal<HTTPPart> {
    .inTurn(request.lookup, send) { [self] lifetime, work in
      let name = "\(request.url.host() ?? ""):\(request.url.port ?? 0)"
      let slots = enter(name)
      slots.take(request.lookup, lifetime, work)
      lifetime.onEnd { self.leave(name) }
    }
  }

  private func enter(_ name: String) -> Slots {
    hosts.withLock { hosts in
      let host = hosts[name] ?? Host(slots: Slots(count, reserved: 0), requests: 0)
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
    let slots: Slots
    let requests: Int
  }
}
