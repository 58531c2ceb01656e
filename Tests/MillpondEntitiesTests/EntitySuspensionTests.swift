import Foundation
import MillpondEntities
import MillpondSignals
import MillpondTesting
import Synchronization
import Testing

/// A store in an async function, into which all that is `@inlinable` is inlined when optimised: after
/// a suspension the function goes on on another thread.
@Suite struct EntitySuspensionTests {
  let store = EntityStore()

  @Test func `each entry point knows the thread of the call, on whichever it was called before`()
    async
  {
    let threads = ThreadsInTurn()
    defer { threads.stop() }
    let answers = await Task(executorPreference: threads) { await calls(of: store) }.value

    #expect(answers.threads > 1)
    #expect(answers.seen == ["set", "update", "inner", "removed", "all removed", "set again"])
    #expect(store.get(Reference<Thing>(1))?.name == "set again")
  }

  @Test func `transactions of async functions never overlap`() async {
    let bodies = Bodies()
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<200 {
            store.update { things in
              bodies.enter()
              let count = Int(things.get(Reference<Thing>(1))?.name ?? "") ?? 0
              things.set(Thing(1, "\(count + 1)"))
              bodies.leave()
            }
            await Task.yield()
          }
        }
      }
    }

    #expect(bodies.overlapCount == 0)
    #expect(store.get(Reference<Thing>(1))?.name == "800")
  }
}

/// The bodies of transactions that run at present, of which there may be one.
private final class Bodies: Sendable {
  private let inside = Atomic(0)
  private let overlaps = Atomic(0)

  var overlapCount: Int {
    overlaps.load(ordering: .relaxed)
  }

  func enter() {
    if inside.add(1, ordering: .relaxed).newValue > 1 { overlaps.add(1, ordering: .relaxed) }
  }

  func leave() {
    inside.subtract(1, ordering: .relaxed)
  }
}

/// Calls each inlinable entry point on several threads in turn.
///
/// - Returns: The number of threads, and what a function that is not inlined saw inside the
///   transactions, of which it is a part only if both take the same thread for the caller's.
private func calls(of store: EntityStore) async -> (threads: Int, seen: [String]) {
  let reference = Reference<Thing>(1)
  var marks: Set<UInt> = []
  var seen: [String] = []
  for _ in 0..<2 {
    seen = []
    store.set(Thing(1, "committed"))
    _ = store.get(reference)
    _ = store.get([reference])
    let list = store.query(Thing.self).values.subscribe(onNext: { _ in })
    let observer = store.signal(of: reference).subscribe(onNext: { _ in })
    marks.insert(threadMark())
    await Task.yield()
    marks.insert(threadMark())
    store.update { things in
      store.set(Thing(1, "set"))
      seen.append(nameElsewhere(in: store))
      things.set(Thing(1, "update"))
      seen.append(nameElsewhere(in: store))
    }
    await Task.yield()
    store.update { things in
      things.update { $0.set(Thing(1, "inner")) }
      seen.append(nameElsewhere(in: store))
      store.remove(reference)
      seen.append(store.get(reference) == nil ? nameElsewhere(in: store, "removed") : "stored")
    }
    await Task.yield()
    store.update { things in
      things.set(Thing(1, "gone soon"))
      store.removeAll(of: Thing.self)
      seen.append(nameElsewhere(in: store, "all removed"))
    }
    await Task.yield()
    store.update { things in
      setElsewhere(Thing(1, "set again"), in: store)
      seen.append(store.get([reference]).first?.name ?? "none")
    }
    list.dispose()
    observer.dispose()
    await Task.yield()
  }
  return (marks.count, seen)
}

@inline(never)
private func nameElsewhere(in store: EntityStore, _ none: String = "none") -> String {
  store.get(Reference<Thing>(1))?.name ?? none
}

@inline(never)
private func setElsewhere(_ thing: Thing, in store: EntityStore) {
  store.set(thing)
}

/// An executor that runs the jobs of a task on seven threads in turn, of which a suspension takes
/// a few.
private final class ThreadsInTurn: TaskExecutor {
  private let lines = (0..<7).map { _ in Line() }
  private let count = Atomic(0)

  init() {
    for line in lines { Thread.detachNewThread { line.work() } }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let number = count.wrappingAdd(1, ordering: .relaxed).oldValue
    lines[number % lines.count].add { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  func stop() {
    for line in lines { line.add(nil) }
  }

  /// The work of a thread, in order; nil ends it.
  final class Line: Sendable {
    private let waiting = Locked<[(@Sendable () -> Void)?]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    func add(_ work: (@Sendable () -> Void)?) {
      waiting.withLock { $0.append(work) }
      arrivals.signal()
    }

    func work() {
      while true {
        arrivals.wait()
        guard let work = waiting.withLock({ $0.removeFirst() }) else { return }
        work()
      }
    }
  }
}
