import MillpondTesting
import Testing

@testable import Millpond

@Suite struct CredentialRenewalTests {
  private struct Scene {
    var rules = CredentialRenewal()

    /// Admits a request and asks for its grant.
    mutating func ask(_ resource: String) -> (id: Int, steps: [String]) {
      guard let id = rules.enter(resource, session: rules.session) else { return (0, []) }
      return (id, words(rules.ask(id)))
    }

    mutating func obtained(_ number: Int) -> [String] {
      words(rules.obtained(number, ["X": "\(number)"]))
    }

    mutating func refused(_ id: Int, at seconds: Int = 0) -> [String] {
      words(rules.refused(id, at: .seconds(seconds)))
    }

    mutating func accepted(_ id: Int) { rules.accepted(id) }

    func words(_ steps: [CredentialRenewal.Step]) -> [String] {
      steps.map { step in
        switch step {
        case .obtain(let number, let refused):
          "obtain \(number) instead of \(refused?["X"] ?? "none")"
        case .send(let id, let credentials): "send \(id) with \(credentials["X"] ?? "")"
        case .pass(let id): "pass \(id)"
        case .fail(let id): "fail \(id)"
        case .wait(let id): "wait \(id)"
        }
      }
    }

    /// Two requests under way with the second grant; the first replaced the first grant.
    static func afterOneExpiry() -> (Scene, first: Int, second: Int) {
      var scene = Scene()
      let (first, _) = scene.ask("a")
      let (second, _) = scene.ask("b")
      _ = scene.obtained(1)
      _ = scene.refused(first)
      _ = scene.refused(second)
      _ = scene.obtained(2)
      return (scene, first, second)
    }
  }

  @Test func `requests that wait for a grant share it`() {
    var scene = Scene()

    #expect(scene.ask("a").steps == ["wait 1", "obtain 1 instead of none"])
    #expect(scene.ask("b").steps == ["wait 2"])
    #expect(scene.obtained(1) == ["send 1 with 1", "send 2 with 1"])
    #expect(scene.ask("c").steps == ["send 3 with 1"])
  }

  @Test func `a request that has left is not sent`() {
    var scene = Scene()
    let (first, _) = scene.ask("a")
    _ = scene.ask("b")

    scene.rules.left(first)

    #expect(scene.obtained(1) == ["send 2 with 1"])
  }

  @Test func `a grant that can't be obtained fails those that wait, and the next is obtained anew`()
  {
    var scene = Scene()
    _ = scene.ask("a")
    let (second, _) = scene.ask("b")
    scene.rules.left(second)

    #expect(scene.words(scene.rules.failed(1)) == ["fail 1"])
    #expect(scene.ask("c").steps == ["wait 3", "obtain 2 instead of none"])
  }

  @Test func `a refusal replaces the grant once, for all requests that were sent with it`() {
    var scene = Scene()
    for resource in ["a", "b", "c"] { _ = scene.ask(resource) }
    _ = scene.obtained(1)

    #expect(scene.refused(1) == ["wait 1", "obtain 2 instead of 1"])
    #expect(scene.refused(2) == ["wait 2"])
    #expect(scene.obtained(2) == ["send 1 with 2", "send 2 with 2"])
    #expect(scene.refused(3) == ["send 3 with 2"])
  }

  @Test func `a late refusal of an old grant does not refuse the new one`() {
    var scene = Scene()
    for resource in ["a", "b"] { _ = scene.ask(resource) }
    _ = scene.obtained(1)
    _ = scene.refused(1)
    _ = scene.obtained(2)
    scene.accepted(1)

    #expect(scene.refused(2) == ["send 2 with 2"])
  }

  @Test func `a grant that has been accepted may be replaced three times for a resource`() {
    var (scene, first, second) = Scene.afterOneExpiry()
    scene.accepted(second)

    for grant in [3, 4] {
      #expect(scene.refused(first) == ["wait \(first)", "obtain \(grant) instead of \(grant - 1)"])
      _ = scene.obtained(grant)
      let (other, _) = scene.ask("c")
      scene.accepted(other)
    }
    #expect(scene.refused(first) == ["pass \(first)"])
  }

  @Test func `a resource that refuses two grants alone fails, and refuses none for a while`() {
    var scene = Scene()
    let (first, _) = scene.ask("a")
    _ = scene.obtained(1)
    _ = scene.refused(first)
    _ = scene.obtained(2)

    #expect(scene.refused(first) == ["pass \(first)"])
    let (second, _) = scene.ask("a")
    #expect(scene.refused(second, at: 29) == ["pass \(second)"])
    let (third, _) = scene.ask("a")
    #expect(scene.refused(third, at: 30) == ["wait \(third)", "obtain 3 instead of 2"])
  }

  @Test func `a resource that accepts again may refuse again`() {
    var scene = Scene()
    let (first, _) = scene.ask("a")
    _ = scene.obtained(1)
    _ = scene.refused(first)
    _ = scene.obtained(2)
    _ = scene.refused(first)
    let (second, _) = scene.ask("a")
    scene.accepted(second)

    let (third, _) = scene.ask("a")
    #expect(scene.refused(third) == ["wait \(third)", "obtain 3 instead of 2"])
  }

  @Test func `a grant that was replaced since proves nothing about the present one`() {
    var (scene, first, second) = Scene.afterOneExpiry()
    let (third, _) = scene.ask("c")
    _ = scene.refused(third)
    _ = scene.obtained(3)
    scene.accepted(second)
    _ = scene.refused(first)

    #expect(scene.refused(first) == ["pass \(first)"])
  }

  @Test func `more resources than are remembered refuse, and each is still refused`() {
    var scene = Scene()
    _ = scene.ask("first")
    _ = scene.obtained(1)
    for number in 1...2_000 {
      let (id, _) = scene.ask("\(number)")
      _ = scene.refused(id)
      _ = scene.obtained(number + 1)
      #expect(scene.refused(id) == ["pass \(id)"])
    }
  }

  @Test func `after a sign-out nothing of the former session is decided, sent or obtained`() {
    var (scene, first, second) = Scene.afterOneExpiry()
    let session = scene.rules.session
    _ = scene.refused(first)
    scene.rules.endSession()

    #expect(scene.refused(second) == [])
    scene.accepted(first)
    #expect(scene.words(scene.rules.ask(second)) == [])
    #expect(scene.rules.enter("a", session: session) == nil)
    let (third, steps) = scene.ask("a")
    #expect(steps == ["wait \(third)", "obtain 3 instead of none"])
    #expect(third > second)
  }

  @Test func `a grant of a former session that comes late is not used`() {
    var scene = Scene()
    _ = scene.ask("a")
    scene.rules.endSession()
    _ = scene.ask("a")

    #expect(scene.obtained(1) == [])
    #expect(scene.obtained(2) == ["send 2 with 2"])
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
  private var queue: [(id: Int, grant: Int)] = []
  private var validGrants: Set<Int> = []

  /// Whether a request was accepted since the last expiry: a token outlives the wait for a
  /// connection.
  private var isUsed = false
  private var obtaining: [(number: Int, due: Int)] = []
  private var forbidden: Set<Int> = []
  private let connections: Int
  private var pending: [(resource: String, isForbidden: Bool)] = []

  /// - Parameter forbidden: The number of resources that refuse everything; a fourth of the
  ///   requests are for one of them.
  init(seed: UInt64, requests: Int, forbidden: Int) {
    random = SeededGenerator(seed: seed)
    connections = Int.random(in: 1...8, using: &random)
    pending = (0..<requests).map { number in
      let isForbidden = forbidden > 0 && number % 4 == 0
      return (isForbidden ? "forbidden \(number / 4 % forbidden)" : "\(number % 50)", isForbidden)
    }
  }

  mutating func run() {
    var time = 0
    var lastExpiry = 0
    while accepted.count + passed.count < 120, time < 10_000 {
      time += 1
      for _ in 0..<Int.random(in: 0...20, using: &random) where !pending.isEmpty { begin() }
      for (number, due) in obtaining where due <= time {
        validGrants.insert(number)
        obtaining.removeAll { $0.number == number }
        carryOut(rules.obtained(number, ["X": "\(number)"]), at: time)
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

  private mutating func begin() {
    let (resource, isForbidden) = pending.removeFirst()
    guard let id = rules.enter(resource, session: 0) else { return }
    if isForbidden { forbidden.insert(id) }
    carryOut(rules.ask(id), at: 0)
  }

  private mutating func serve(at time: Int) {
    for _ in 0..<min(connections, queue.count) {
      let (id, grant) = queue.removeFirst()
      if validGrants.contains(grant), !forbidden.contains(id) {
        accepted.insert(id)
        isUsed = true
        rules.accepted(id)
      } else {
        carryOut(rules.refused(id, at: .milliseconds(time)), at: time)
      }
    }
  }

  private mutating func carryOut(_ steps: [CredentialRenewal.Step], at time: Int) {
    for step in steps {
      switch step {
      case .obtain(let number, _):
        obtainCount += 1
        obtaining.append((number, time + Int.random(in: 1...3, using: &random)))
      case .send(let id, let credentials):
        queue.append((id, Int(credentials["X"] ?? "") ?? 0))
      case .pass(let id): passed.insert(id)
      case .fail, .wait: break
      }
    }
  }
}
