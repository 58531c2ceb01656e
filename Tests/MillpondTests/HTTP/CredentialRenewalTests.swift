import MillpondTesting
import Testing

@testable import Millpond

@Suite struct CredentialRenewalTests {
  private struct Scene {
    var rules = CredentialRenewal()

    /// Asks for the grant of a request.
    mutating func ask(in session: Int = 0) -> String {
      switch rules.grant(in: session) {
      case .current: "current"
      case .obtain(let number, let refused):
        "obtain \(number) instead of \(refused?["X"] ?? "none")"
      case .none: "none"
      }
    }

    mutating func refused(_ resource: String, with grant: Int, at seconds: Int = 0) -> String {
      let isSentAgain = rules.refused(
        resource, with: grant, ["X": "\(grant)"], at: .seconds(seconds))
      return isSentAgain ? "again" : "final"
    }

    /// A second grant, which replaced the first because of a resource.
    static func afterOneExpiry() -> Scene {
      var scene = Scene()
      _ = scene.ask()
      _ = scene.refused("a", with: 1)
      _ = scene.ask()
      return scene
    }
  }

  @Test func `requests share a grant`() {
    var scene = Scene()

    #expect(scene.ask() == "obtain 1 instead of none")
    #expect(scene.ask() == "current")
  }

  @Test func `after a grant that can't be obtained the next request has one obtained anew`() {
    var scene = Scene()
    _ = scene.ask()

    scene.rules.failed(1)

    #expect(scene.ask() == "obtain 2 instead of none")
    scene.rules.failed(1)
    #expect(scene.ask() == "current")
  }

  @Test func `a refusal replaces the grant once, for all requests that were sent with it`() {
    var scene = Scene()
    _ = scene.ask()

    #expect(scene.refused("a", with: 1) == "again")
    #expect(scene.ask() == "obtain 2 instead of 1")
    #expect(scene.refused("b", with: 1) == "again")
    #expect(scene.ask() == "current")
  }

  @Test func `a late refusal of an old grant does not refuse the new one`() {
    var scene = Scene.afterOneExpiry()

    #expect(scene.refused("b", with: 1) == "again")

    #expect(scene.ask() == "current")
  }

  @Test func `a grant that has been accepted may be replaced three times for a resource`() {
    var scene = Scene.afterOneExpiry()
    scene.rules.accepted("b", with: 2)

    for grant in [2, 3] {
      #expect(scene.refused("a", with: grant) == "again")
      #expect(scene.ask() == "obtain \(grant + 1) instead of \(grant)")
      scene.rules.accepted("c", with: grant + 1)
    }
    #expect(scene.refused("a", with: 4) == "final")
  }

  @Test func `a resource that refuses two grants alone fails, and refuses none for a while`() {
    var scene = Scene.afterOneExpiry()

    #expect(scene.refused("a", with: 2) == "final")
    #expect(scene.refused("a", with: 2, at: 29) == "final")
    #expect(scene.refused("a", with: 2, at: 30) == "again")
    #expect(scene.ask() == "obtain 3 instead of 2")
  }

  @Test func `a resource that accepts again may refuse again`() {
    var scene = Scene.afterOneExpiry()
    _ = scene.refused("a", with: 2)
    scene.rules.accepted("a", with: 2)

    #expect(scene.refused("a", with: 2) == "again")
    #expect(scene.ask() == "obtain 3 instead of 2")
  }

  @Test func `a grant that was replaced since proves nothing about the present one`() {
    var scene = Scene.afterOneExpiry()
    _ = scene.refused("c", with: 2)
    _ = scene.ask()

    scene.rules.accepted("b", with: 2)

    #expect(scene.refused("a", with: 3) == "final")
  }

  @Test func `after a sign-out nothing of the former session counts or is sent`() {
    var scene = Scene.afterOneExpiry()
    scene.rules.endSession()

    #expect(scene.ask() == "none")
    #expect(scene.ask(in: 1) == "obtain 3 instead of none")
    scene.rules.failed(2)
    scene.rules.accepted("a", with: 2)
    #expect(scene.refused("a", with: 2) == "again")
    #expect(scene.ask(in: 1) == "current")
    #expect(scene.refused("a", with: 3) == "again")
  }

  @Test(arguments: 0..<200)
  func `every request that some grant is good for is accepted, whatever expires meanwhile`(
    seed: UInt64
  ) {
    var model = ExpiringOrigin(seed: seed, requests: 120, forbidden: 0)

    model.run()

    #expect(model.accepted.count == 120)
    #expect(model.obtainCount <= model.expiryCount + 1)
  }

  @Test(arguments: 0..<200)
  func `resources that are always refused fail, and no other request with them`(seed: UInt64) {
    var model = ExpiringOrigin(seed: seed, requests: 120, forbidden: 3)

    model.run()

    #expect(model.accepted.count == 90)
    #expect(model.passed.count == 30)
    #expect(model.obtainCount <= model.expiryCount + 1 + 9)
  }
}

/// An origin whose token expires at random, behind a queue that serves a few requests at a time.
private struct ExpiringOrigin {
  private(set) var accepted: Set<Int> = []
  private(set) var passed: Set<Int> = []
  private(set) var obtainCount = 0
  private(set) var expiryCount = 0

  private var rules = CredentialRenewal()
  private var random: SeededGenerator
  private var queue: [(request: Request, grant: Int)] = []
  private var validGrants: Set<Int> = []

  /// Whether a request was accepted since the last expiry: a token outlives the wait for a
  /// connection.
  private var isUsed = false

  /// The present grant, the time at which it is obtained, and the requests that wait for it.
  private var grant = 0
  private var due: Int?
  private var waiting: [Request] = []
  private let connections: Int
  private var pending: [Request]

  private struct Request {
    let id: Int
    let resource: String
    let isForbidden: Bool
  }

  /// - Parameter forbidden: The number of resources that refuse everything; a fourth of the
  ///   requests are for one of them.
  init(seed: UInt64, requests: Int, forbidden: Int) {
    random = SeededGenerator(seed: seed)
    connections = Int.random(in: 1...8, using: &random)
    pending = (0..<requests).map { id in
      let isForbidden = forbidden > 0 && id % 4 == 0
      let resource = isForbidden ? "forbidden \(id / 4 % forbidden)" : "\(id % 50)"
      return Request(id: id, resource: resource, isForbidden: isForbidden)
    }
  }

  mutating func run() {
    var time = 0
    var lastExpiry = 0
    while accepted.count + passed.count < 120, time < 10_000 {
      time += 1
      for _ in 0..<Int.random(in: 0...20, using: &random) where !pending.isEmpty {
        ask(for: pending.removeFirst(), at: time)
      }
      if let due, due <= time {
        self.due = nil
        validGrants.insert(grant)
        queue += waiting.map { ($0, grant) }
        waiting = []
      }
      serve(at: time)
      if !validGrants.isEmpty, isUsed, time > lastExpiry + 4,
        Int.random(in: 0..<6, using: &random) == 0
      {
        (validGrants, lastExpiry, isUsed) = ([], time, false)
        expiryCount += 1
      }
    }
  }

  private mutating func ask(for request: Request, at time: Int) {
    if case .obtain(let number, _) = rules.grant(in: 0) {
      grant = number
      due = time + Int.random(in: 1...3, using: &random)
      obtainCount += 1
    }
    if due == nil { queue.append((request, grant)) } else { waiting.append(request) }
  }

  private mutating func serve(at time: Int) {
    for _ in 0..<min(connections, queue.count) {
      let (request, grant) = queue.removeFirst()
      if validGrants.contains(grant), !request.isForbidden {
        accepted.insert(request.id)
        isUsed = true
        rules.accepted(request.resource, with: grant)
      } else if rules.refused(request.resource, with: grant, [:], at: .milliseconds(time)) {
        ask(for: request, at: time)
      } else {
        passed.insert(request.id)
      }
    }
  }
}
