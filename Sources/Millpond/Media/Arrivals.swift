import MillpondSignals
import Synchronization

/// The files that are on their way, and whether they are still wanted when they have come.
final class Arrivals: Sendable {
  private let expected = Locked<[String: [Arrival]]>([:])

  /// Expects a file until `lifetime` ends.
  func expect(_ name: String, until lifetime: Lifetime) -> Arrival {
    let arrival = Arrival()
    expected.withLock { $0[name, default: []].append(arrival) }
    lifetime.onEnd { self.remove(arrival, name) }
    return arrival
  }

  /// What is on its way for a name is not to be kept.
  func revoke(_ name: String) {
    for arrival in expected.withLock({ $0[name] ?? [] }) { arrival.revoke() }
  }

  /// Nothing that is on its way is to be kept.
  func revokeAll() {
    for arrival in expected.withLock({ $0.values.flatMap { $0 } }) { arrival.revoke() }
  }

  private func remove(_ arrival: Arrival, _ name: String) {
    expected.withLock { expected in
      expected[name]?.removeAll { $0 === arrival }
      if expected[name]?.isEmpty == true { expected[name] = nil }
    }
  }
}

/// A file that is on its way.
final class Arrival: Sendable {
  private let revoked = Atomic(false)

  /// Whether its name was told something since it set out.
  var isRevoked: Bool {
    revoked.load(ordering: .acquiring)
  }

  fileprivate func revoke() {
    revoked.store(true, ordering: .releasing)
  }
}
