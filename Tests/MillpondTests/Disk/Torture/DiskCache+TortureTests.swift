import Foundation
import MillpondCore
import TestTraits
import Testing

@testable import Millpond

/// The same work again and again, each time with a fault one call later.
///
/// ``Torture`` says how many of the calls have their turn.
@Suite(.timeLimit(.minutes(10)), .heavy) struct DiskCacheTortureTests {
  /// The first limit evicts values; the second evicts none, so none may be missing.
  static let limits = [320 << 10, 1 << 20]

  /// Steps that begin and remove segments, and replace and remove values of both sizes.
  private static let steps: [TortureRun.Step] = {
    let small = (1...8).map { "small \($0)" }
    let first = small.map { ($0, 1_500) }
    let large = (1...4).map { ("large \($0)", 66_000 + 1_000 * $0) }
    return [
      .sets(first), .sets(Array(large.prefix(2))), .flush(.synchronized), .remove("small 3"),
      .group(small.prefix(6).map { ($0, 1_200) } + [("large 1", 67_000)]),
      .sets([("small 1", 40_000), ("small 2", 10), ("large 1", 70_000), ("small 4", 3_000)]),
      .sets([("large 2", 100)]), .sets(small.suffix(4).map { ($0, 2_500) }), .remove("large 1"),
      .remove("absent"), .sets(Array(large.suffix(2))), .sets(small.prefix(4).map { ($0, 5_000) }),
      .sets([("large 1", 80_000)]), .removeAll, .sets(first), .sets([("large 3", 90_000)]),
      .lateRemoveAll([("small 2", 600), ("large 2", 70_000)]),
      .sets(small.prefix(3).map { ($0, 900) }),
      .sets([("small 5", 20_000)]), .group(small.suffix(4).map { ($0, 700) }),
      .sets([("small 5", 20_001)]), .sets([("small 6", 20_000)]),
      .flush(.written), .sets([("small 6", 20_001)]), .sets([("small 7", 1)]),
    ]
  }()

  private func isOver(
    _ number: Int, _ limit: Int, _ fault: FaultyCalls.Fault, _ faulty: Set<FaultyCalls.Call>,
    isDeadly: Bool
  ) async throws -> Bool {
    let run = TortureRun(byteLimit: limit, isDeadly: isDeadly)
    run.calls.inject(fault, after: number, of: faulty)
    try await run.run(Self.steps)
    let isOver = run.calls.isWaiting
    try await run.verify()
    #expect(run.complaints == [], "limit \(limit), \(fault) at \(number)")
    return isOver || !run.complaints.isEmpty
  }

  @Test(arguments: limits, [true, false])
  func `a store killed at any call keeps each acknowledged value or a later one`(
    limit: Int, isHalfDone: Bool
  ) async throws {
    var number = 0
    while try await !isOver(
      number, limit, .death(isHalfDone: isHalfDone), FaultyCalls.Call.effects, isDeadly: true)
    {
      number += Effort.stride(19)
    }

    #expect(number > 50)
  }

  @Test(arguments: limits, [POSIXErrorCode.ENOSPC, .EIO])
  func `a call that fails fails only its own write, and the old value stays`(
    limit: Int, code: POSIXErrorCode
  ) async throws {
    var number = code == .EIO ? 0 : 1
    let faulty = FaultyCalls.Call.all.subtracting([.readNow])
    // The two error codes take turns: one fails the calls that the other skips.
    while try await !isOver(number, limit, .error(code), faulty, isDeadly: false) {
      number += 2 * Effort.stride(47)
    }

    #expect(number > 100)
  }

  @Test(arguments: limits)
  func `all writes fail while nothing can be written, and none fails afterwards`(
    limit: Int
  ) async throws {
    for first in stride(from: 2, to: 60, by: 3 * Effort.stride(6)) {
      let run = TortureRun(byteLimit: limit, isDeadly: false)
      run.calls.inject(.error(.ENOSPC), after: first, of: [.write, .make], count: 25)
      try await run.run(Self.steps)
      try await run.verify()
      #expect(run.complaints == [], "limit \(limit), after \(first)")
      if !run.complaints.isEmpty { return }
    }
  }
}
