import Dispatch
import MillpondCore
import MillpondSignals

/// Returns gets that tasks await, beside hand-written code: an actor with a dictionary of values
/// and one of running tasks.
func taskRows() -> [Row] {
  [
    Row(
      "value-hit", "a hit in memory, awaited", times: 1.2,
      beside: .finishedTasks, body: .awaitedHits),
    Row(
      "task-miss", "a get that starts, stores and answers, awaited",
      times: 0.8, beside: .actorMisses, body: .awaitedMisses),
    Row(
      "task-miss-seen", "the same, observed and not awaited", times: 0.8, beside: .actorMisses,
      body: .observedMisses),
    Row(
      "task-join", "tasks that join a running get, until all are answered",
      times: 1, beside: .actorJoins, body: .awaitedJoins),
  ]
}

extension Work {
  // MARK: Hits

  fileprivate static let finishedTasks = Work("finished-task", expected: expectedHits) {
    operations in
    let tasks = Dictionary(uniqueKeysWithValues: (0..<1_000).map { key in (key, Task { key }) })
    return blocking {
      var sum = 0
      for _ in 0..<(operations / 1_000) {
        for key in 0..<1_000 { sum &+= await tasks[key]?.value ?? 0 }
      }
      return sum
    }
  }

  fileprivate static let awaitedHits = Work(expected: expectedHits) { operations in
    let memory = MemoryCache<Int, Int>(countLimit: 10_000)
    for key in 0..<1_000 { memory.set(key, for: key) }
    return blocking {
      var sum = 0
      for _ in 0..<(operations / 1_000) {
        for key in 0..<1_000 { sum &+= (try? await memory.get(key).value) ?? 0 }
      }
      return sum
    }
  }

  @Sendable private static func expectedHits(_ operations: Int) -> Int {
    operations / 1_000 * triangle(1_000)
  }

  // MARK: Misses

  fileprivate static let actorMisses = Work("actor-miss", expected: triangle) { operations in
    let cache = TaskDictionary { (key: Int) in key }
    return blocking {
      var sum = 0
      for key in 0..<operations { sum &+= (try? await cache.value(for: key)) ?? 0 }
      return sum
    }
  }

  fileprivate static let awaitedMisses = Work(expected: triangle) { operations in
    let cache = sharedNumbers()
    return blocking {
      var sum = 0
      for key in 0..<operations { sum &+= (try? await cache.get(key).value) ?? 0 }
      return sum
    }
  }

  fileprivate static let observedMisses = Work(expected: triangle) { operations in
    let cache = sharedNumbers()
    let sum = Sum()
    for key in 0..<operations { cache.get(key).subscribe(onNext: { sum.add($0) }) }
    return sum.take()
  }

  private static func sharedNumbers() -> some Cache<Int, Int> {
    MemoryCache<Int, Int>(countLimit: 1_000_000).layered(over: Numbers()).reusingInFlight()
  }

  // MARK: Joins

  fileprivate static let actorJoins = Work("actor-join", expected: { $0 }) { operations in
    inCrowds(operations) {
      let (answers, answer) = AsyncStream<Int>.makeStream()
      let cache = TaskDictionary { (_: Int) in
        for await number in answers { return number }
        return 0
      }
      return ({ try await cache.value(for: 1) }, { answer.yield(1) })
    }
  }

  fileprivate static let awaitedJoins = Work(expected: { $0 }) { operations in
    inCrowds(operations) {
      // Also answers a get that comes after the answer, as the stream of the other row does.
      let origin = Promise<Int>()
      let cache = MemoryCache<Int, Int>(countLimit: 10)
        .layered(over: Fed(signal: origin.outcome)).reusingInFlight()
      return ({ try await cache.get(1).value }, { origin.keep(by: .just(1)) })
    }
  }

  /// Lets up to a thousand tasks at a time get one key, answers them, and returns the sum of the
  /// answers.
  private static func inCrowds(
    _ operations: Int,
    _ make: () -> (ask: @Sendable () async throws -> Int, answer: @Sendable () -> Void)
  ) -> Int {
    var sum = 0
    for start in stride(from: 0, to: operations, by: 1_000) {
      let (ask, answer) = make()
      let count = min(1_000, operations - start)
      sum += blocking {
        await withTaskGroup(of: Int.self) { group in
          for _ in 0..<count { group.addTask { (try? await ask()) ?? 0 } }
          // Answers only after other tasks have run, most of which begin their get then.
          await Task.yield()
          answer()
          return await group.reduce(0, +)
        }
      }
    }
    return sum
  }
}

/// Runs `body` in a task and waits for it.
private func blocking(_ body: @escaping @Sendable () async -> Int) -> Int {
  let result = Locked(0)
  let isDone = DispatchSemaphore(value: 0)
  Task.detached {
    let sum = await body()
    result.withLock { $0 = sum }
    isDone.signal()
  }
  isDone.wait()
  return result.withLock { $0 }
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

/// Answers each number with itself, at once.
private struct Numbers: Source {
  func get(_ key: Int, _ lookup: Lookup) -> Signal<Int> {
    .just(key)
  }
}

/// A source whose answers come from outside.
private struct Fed: Source {
  let signal: Signal<Int>

  func get(_ key: Int, _ lookup: Lookup) -> Signal<Int> {
    signal
  }
}
