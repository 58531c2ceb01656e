import MillpondSignals
import Testing

@Suite struct RetryPolicyTests {
  struct Busy: RetryDelaying {
    let retryDelay: Duration?
  }

  func backoff(jitter: Double = 0, chance: Double = 0) -> RetryPolicy {
    .backoff(
      attempts: 1_000_000, from: .seconds(1), upTo: .seconds(10), jitter: jitter,
      chance: { chance })
  }

  @Test(arguments: [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (6, 10), (999_999, 10)])
  func `pauses double up to the longest`(attempt: Int, seconds: Int) {
    #expect(backoff().delay(after: attempt, failedWith: Trouble.some) == .seconds(seconds))
  }

  @Test(arguments: [(0.5, 1.0, 2_000), (0.5, 0.5, 3_000), (1, 1, 0), (7, 1, 0), (-1, 1, 4_000)])
  func `chance shortens a pause by at most the jitter`(
    jitter: Double, chance: Double, milliseconds: Int
  ) {
    let policy = backoff(jitter: jitter, chance: chance)

    #expect(policy.delay(after: 3, failedWith: Trouble.some) == .milliseconds(milliseconds))
  }

  @Test(arguments: [-1, 0, 1])
  func `less than two attempts means no retry`(attempts: Int) {
    let policy = RetryPolicy.immediate(attempts: attempts)

    #expect(policy.delay(after: 1, failedWith: Trouble.some) == nil)
  }

  @Test func `the last attempt is not followed by another`() {
    let policy = RetryPolicy.immediate(attempts: 3)

    #expect(policy.delay(after: 2, failedWith: Trouble.some) == .zero)
    #expect(policy.delay(after: 3, failedWith: Trouble.some) == nil)
  }

  @Test func `a number is a policy of so many attempts with growing pauses`() throws {
    let policy: RetryPolicy = 3

    let pauses = try (1...2).map { try #require(policy.delay(after: $0, failedWith: Trouble.some)) }
    #expect((.milliseconds(100)...(.milliseconds(200))).contains(pauses[0]))
    #expect((.milliseconds(200)...(.milliseconds(400))).contains(pauses[1]))
    #expect(policy.delay(after: 3, failedWith: Trouble.some) == nil)
  }

  @Test func `a number repeats nothing that another attempt can't change`() {
    struct Missing: RetryDelaying {
      var retryDelay: Duration? { nil }
      var isPermanent: Bool { true }
    }
    let policy: RetryPolicy = 3
    let undecodable = DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: ""))

    for error in [Missing(), CancellationError(), undecodable] as [any Error] {
      #expect(policy.delay(after: 1, failedWith: error) == nil)
    }
    #expect(
      policy.delay(after: 1, failedWith: Busy(retryDelay: .seconds(9))) ?? .zero >= .seconds(9))
  }

  @Test func `errors that every predicate accepts are retried, no others`() {
    let policy = RetryPolicy.immediate(attempts: 3)
      .only { $0 is Trouble }.only { $0 as? Trouble == .some }

    #expect(policy.delay(after: 1, failedWith: Trouble.some) == .zero)
    #expect(policy.delay(after: 1, failedWith: Trouble.other) == nil)
    #expect(policy.delay(after: 1, failedWith: CancellationError()) == nil)
  }

  @Test(arguments: [
    (0, 1, 5_000), (0.5, 0, 5_000), (0.5, 0.5, 6_250), (0.5, 1, 7_500), (1, 1, 10_000),
  ])
  func `a pause that the error names is never shortened, only lengthened by chance`(
    jitter: Double, chance: Double, milliseconds: Int
  ) {
    let policy = backoff(jitter: jitter, chance: chance)

    #expect(
      policy.delay(after: 1, failedWith: Busy(retryDelay: .seconds(5)))
        == .milliseconds(milliseconds))
  }

  @Test func `a policy without pauses waits for one that the error names, of at most a minute`() {
    let policy = RetryPolicy.immediate(attempts: 2)
    let delay = policy.delay(after: 1, failedWith: Busy(retryDelay: .seconds(10))) ?? .zero

    #expect((.seconds(10) ... .seconds(15)).contains(delay))
    #expect(policy.delay(after: 1, failedWith: Busy(retryDelay: .seconds(61))) == nil)
  }

  @Test func `a named pause that is shorter doesn't shorten the policy's`() {
    #expect(backoff().delay(after: 3, failedWith: Busy(retryDelay: .seconds(1))) == .seconds(4))
    #expect(backoff().delay(after: 3, failedWith: Busy(retryDelay: .seconds(-1))) == .seconds(4))
    #expect(backoff().delay(after: 3, failedWith: Busy(retryDelay: nil)) == .seconds(4))
  }

  @Test func `a named pause that is longer than the longest is not waited for`() {
    #expect(backoff().delay(after: 1, failedWith: Busy(retryDelay: .seconds(11))) == nil)
  }

  @Test func `a pause that starts at zero or below stays zero`() {
    let policy = RetryPolicy.backoff(attempts: 9, from: .seconds(-1), upTo: .seconds(1))

    #expect(policy.delay(after: 8, failedWith: Trouble.some) == .zero)
  }

  @Test func `the longest of all durations doesn't overflow`() {
    let longest = Duration.seconds(Int64.max)
    let policy = RetryPolicy.backoff(
      attempts: .max, from: .seconds(1), upTo: longest, jitter: 0)

    #expect(policy.delay(after: .max - 1, failedWith: Trouble.some) == longest)
  }
}
