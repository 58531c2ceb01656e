import Foundation
public import Testing

/// A trait of tests that compute for a second or more, which leaves a thread to other tests.
///
/// It counts the tests of all suites together. If such tests occupied all threads for
/// continuations, tests that wait for an event would wait until they give up.
public struct Heavy: SuiteTrait, TestTrait, TestScoping {
  private static let turns = Turns(ProcessInfo.processInfo.activeProcessorCount - 1)

  /// Each test of a suite has it, too.
  public var isRecursive: Bool { true }

  /// Runs a test when it is its turn.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    await Self.turns.take()
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(try await function())
    } catch {
      outcome = .failure(error)
    }
    await Self.turns.pass()
    try outcome.get()
  }
}

extension Trait where Self == Heavy {
  /// Leaves a thread to other tests.
  public static var heavy: Self { Self() }
}

/// The number of free places, and the suites that wait for one, first come, first served.
private actor Turns {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) {
    free = max(count, 1)
  }

  func take() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  func pass() {
    if waiting.isEmpty {
      free += 1
    } else {
      waiting.removeFirst().resume()
    }
  }
}
