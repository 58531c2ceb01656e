import Foundation
import Millpond
import MillpondTesting
import RandomHistories
import Testing

/// Runs programs on a composition of texts, and expects that none breaks a rule.
func expect(
  _ mix: HistoryStepMix = .general, share: UInt64 = 1, location: SourceLocation = #_sourceLocation,
  _ compose:
    @escaping @Sendable (HistoryScene<String, String>) -> some Cache<String, String>
) async {
  await expect(
    mix, share: share, value: { "\($0)#\($1)" }, location: location, composing: compose)
}

/// Runs programs on a composition, and expects that none breaks a rule.
///
/// - Parameter share: The divisor of the number of programs, for those that take long.
func expect<Value>(
  _ mix: HistoryStepMix = .general, share: UInt64 = 1,
  value: @escaping @Sendable (String, Int) -> Value,
  location: SourceLocation = #_sourceLocation,
  composing compose:
    @escaping @Sendable (HistoryScene<String, Value>) -> some Cache<String, Value>
) async {
  let check = HistoryCheck(key: { "k\($0)" }, value: value, mix: mix, composing: compose)
  // Few on several threads: they take longer.
  let (all, some) = (max(historyCount / share, 1), max(historyCount / share / 2, 1))
  let failures =
    await check.failures(seeds: 0..<all)
    + check.failures(seeds: all..<all + some, threads: 3)
    + check.failures(seeds: all..<all + some, threads: 3, underLock: true)
  for failure in failures { Issue.record("\(failure)", sourceLocation: location) }
}

/// The number of programs: more if the environment says so.
let historyCount = environment("MILLPOND_HISTORIES").flatMap(UInt64.init) ?? 12

private func environment(_ name: String) -> String? {
  ProcessInfo.processInfo.environment[name]
}
