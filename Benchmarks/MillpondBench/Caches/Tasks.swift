import MillpondCore
import MillpondSignals

/// Returns gets that tasks await, beside hand-written code: an actor with a dictionary of values
/// and one of running tasks.
func taskRows() -> [Row] {
  [
    Row("value-hit", "a hit in memory, awaited", times: 1.2, beside: finishedTasks, awaitedHits),
    Row(
      "task-miss", "a get that starts, stores and answers, awaited", times: 0.8,
      beside: actorMisses, awaitedMisses),
    Row(
      "task-miss-seen", "the same, observed and not awaited", times: 0.8, beside: actorMisses,
      .summing(expected: triangle) { sum, operations in
        let cache = sharedNumbers()
        for key in 0..<operations { cache.get(key).subscribe(onNext: { sum.add($0) }) }
      }),
    Row(
      "task-join", "tasks that join a running get, until all are answered", times: 1,
      beside: actorJoins, awaitedJoins),
  ]
}

// MARK: Hits

private let finishedTasks = Work("finished-task", expected: Work.sumOfKeys) { operations in
  let tasks = Dictionary(uniqueKeysWithValues: (0..<1_000).map { key in (key, Task { key }) })
  return try blocking {
    var sum = 0
    for _ in 0..<(operations / 1_000) {
      for key in 0..<1_000 { sum &+= await tasks[key]?.value ?? 0 }
    }
    return sum
  }
}

private let awaitedHits = Work(expected: Work.sumOfKeys) { operations in
  let memory = MemoryCache<Int, Int>(countLimit: 10_000)
  for key in 0..<1_000 { memory.set(key, for: key) }
  return try blocking {
    var sum = 0
    for _ in 0..<(operations / 1_000) {
      for key in 0..<1_000 { sum &+= try await memory.get(key).value }
    }
    return sum
  }
}

// MARK: Misses

private let actorMisses = Work("actor-miss", expected: triangle) { operations in
  let cache = TaskDictionary { (key: Int) in key }
  return try blocking {
    var sum = 0
    for key in 0..<operations { sum &+= try await cache.value(for: key) }
    return sum
  }
}

private let awaitedMisses = Work(expected: triangle) { operations in
  let cache = sharedNumbers()
  return try blocking {
    var sum = 0
    for key in 0..<operations { sum &+= try await cache.get(key).value }
    return sum
  }
}

private func sharedNumbers() -> some Cache<Int, Int> {
  MemoryCache<Int, Int>(countLimit: 1_000_000).layered(over: Numbers()).reusingInFlight()
}

/// Answers each number with itself, at once.
private struct Numbers: Source {
  func get(_ key: Int, _ lookup: Lookup) -> Signal<Int> {
    .just(key)
  }
}

// MARK: Joins

private let actorJoins = Work("actor-join") { operations in
  try inCrowds(operations) {
    let (answers, answer) = AsyncStream<Int>.makeStream()
    let cache = TaskDictionary { (_: Int) in
      for await number in answers { return number }
      return 0
    }
    return ({ try await cache.value(for: 1) }, { answer.yield(1) })
  }
}

private let awaitedJoins = Work { operations in
  try inCrowds(operations) {
    // Also answers a get that comes after the answer, as the stream of the other row does.
    let origin = Promise<Int>()
    let cache = MemoryCache<Int, Int>(countLimit: 10)
      .layered(over: FunctionSource.signal { _ in origin.outcome }).reusingInFlight()
    return ({ try await cache.get(1).value }, { origin.keep(by: .just(1)) })
  }
}

/// Lets up to a thousand tasks at a time get one key, answers them, and returns the sum of the
/// answers.
private func inCrowds(
  _ operations: Int,
  _ make: () -> (ask: @Sendable () async throws -> Int, answer: @Sendable () -> Void)
) throws -> Int {
  try stride(from: 0, to: operations, by: 1_000).reduce(0) { sum, start in
    let (ask, answer) = make()
    let count = min(1_000, operations - start)
    return try sum
      + blocking {
        try await withThrowingTaskGroup(of: Int.self) { group in
          for _ in 0..<count { group.addTask { try await ask() } }
          // Answers only after other tasks have run, most of which begin their get then.
          await Task.yield()
          answer()
          return try await group.reduce(0, +)
        }
      }
  }
}

/// The hand-written cache: values, and the running tasks that fetch some.
private actor TaskDictionary<Key: Hashable & Sendable, Value: Sendable> {
  private var values: [Key: Value] = [:]
  private var tasks: [Key: Task<Value, any Error>] = [:]
  private let load: @Sendable (Key) async throws -> Value

  init(load: @escaping @Sendable (Key) async throws -> Value) {
    self.load = load
  }

  func value(for key: Key) async throws -> Value {
    if let value = values[key] { return value }
    if let task = tasks[key] { return try await task.value }
    let task = Task { [load] in try await load(key) }
    tasks[key] = task
    defer { tasks[key] = nil }
    let value = try await task.value
    values[key] = value
    return value
  }
}
