import Foundation

/// The commands that measure rows; the rows of the first need no command.
let families: [any RowFamily.Type] = [
  SignalFamily.self, MemoryFamily.self, DiskFamily.self, NetworkFamily.self, EntityFamily.self,
  RedisFamily.self, WorstFamily.self,
]

/// Runs the benchmarks that the arguments name, and returns the exit code.
///
/// `main.swift` only calls it, because nothing is specialised there.
func bench(_ arguments: some Collection<String>) -> Int32 {
  do {
    let rest = arguments.dropFirst()
    if arguments.first == "hit-ratio" { return try hitRatio(HitRatioOptions(rest)) }
    if arguments.first == "report" { return try reportBench(rest) }
    if let family = families.dropFirst().first(where: { $0.name == arguments.first }) {
      return try run(family, rest)
    }
    return try run(SignalFamily.self, arguments)
  } catch {
    FileHandle.standardError.write(Data("millpond-bench: \(error)\n".utf8))
    return 2
  }
}
