public import Millpond
public import MillpondTesting

/// The behaviour that `HTTPSource` needs of a transport, as checks that run against origins on
/// 127.0.0.1.
///
///     let laws = TransportLaws { MyTransport() }
///     let breaches = await laws.breaches()
///     #expect(breaches.isEmpty)  // in two steps, so that a failure shows them
///
/// The transport must not use a proxy for 127.0.0.1.
///
/// - Note: Starts threads of its own for the origins; blocks none of the cooperative pool.
public struct TransportLaws: Sendable {
  private let timeLimit: Duration
  private let make: @Sendable () -> any HTTPTransport

  /// Creates the checks of a transport.
  ///
  /// - Parameters:
  ///   - timeLimit: The time to wait for a required event before its absence counts as a breach.
  ///   - make: Makes a transport, anew for each law.
  public init(
    timeLimit: Duration = Watchdog.limit, of make: @escaping @Sendable () -> some HTTPTransport
  ) {
    self.timeLimit = timeLimit
    self.make = make
  }

  /// Runs the checks of `laws`, and returns the breaches; empty for a transport that keeps them.
  public func breaches(
    of laws: [TransportLaw] = TransportLaw.allCases
  ) async -> [Breach<TransportLaw>] {
    var breaches: [Breach<TransportLaw>] = []
    for law in laws {
      var scene = TransportLawsScene(make(), timeLimit)
      do {
        try await scene.check(law)
      } catch {
        scene.expect(false, "it could not be checked: \(error)")
      }
      breaches += scene.findings.map { Breach(law, $0) }
    }
    return breaches
  }
}

extension TransportLawsScene {
  fileprivate mutating func check(_ law: TransportLaw) async throws {
    switch law {
    case .laziness: try await laziness()
    case .parts: try await parts()
    case .statuses: try await statuses()
    case .fields: try await fields()
    case .encoding: try await encoding()
    case .methods: try await methods()
    case .bodies: try await bodies()
    case .progress: try await progress()
    case .brokenBodies: try await brokenBodies()
    case .redirects:
      try await redirects()
      try await redirectsWithBodies()
    case .credentials: try await credentials()
    case .failures: try await failures()
    case .cancellation: try await cancellation()
    case .repetition: try await repetition()
    case .independence: try await independence()
    case .concurrency: try await concurrency()
    }
  }
}
