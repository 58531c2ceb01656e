import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Synchronization
import Testing

/// A search finds what is planted, and says how to repeat it.
@Suite(.enabled(if: ScheduleCheck.isAvailable), .serialized, .timeLimit(.minutes(2)))
struct ScheduleCheckTests {
  /// Two threads that read a number under a lock, and write it under the same lock later.
  private let lostUpdate = ScheduleCheck { program in
    let number = Locked(0)
    var count = 0
    for _ in 0..<2 {
      program.thread([
        "looks at something else": { _ = number.withLock { $0 } },
        "adds 1": {
          let seen = number.withLock { $0 }
          number.withLock { $0 = seen + 1 }
          count += 1
        },
      ])
    }
    program.whenQuiet {
      let sum = number.withLock { $0 }
      return sum < count ? "an update is lost: \(sum)" : nil
    }
  }

  @Test func `a lost update is found with one preemption, in the two calls that matter`() throws {
    let failure = try #require(lostUpdate.search().failure)

    #expect(failure.preemptions == 1)
    #expect(failure.steps.count { $0.contains("adds 1") && !$0.contains("returned") } == 2)
    #expect(!failure.steps.contains { $0.contains("something else") })
    #expect(failure.steps.contains { $0.contains("ScheduleCheckTests.swift:") })
  }

  @Test func `a failure in every order is shortened to what complains of the same`() throws {
    let failure = try #require(
      ScheduleCheck { program in
        let calls = Shared(0)
        for _ in 0..<2 { program.thread(["adds 1": { calls.value += 1 }]) }
        program.thread(["does nothing": {}])
        program.whenQuiet { "\(calls.value) calls" }
      }.search().failure)

    #expect(failure.complaint == "2 calls")
    #expect(!failure.steps.contains { $0.contains("does nothing") })
  }

  @Test func `a schedule can be repeated as it is printed`() throws {
    let failure = try #require(lostUpdate.search().failure)

    let repeated = try #require(try lostUpdate.replay(failure.schedule))

    #expect(repeated.complaint == failure.complaint)
    #expect(repeated.steps == failure.steps)
  }

  @Test func `a schedule of a program that has changed is an error`() throws {
    let failure = try #require(lostUpdate.search().failure)
    let other = ScheduleCheck { program in
      program.thread(["does nothing": {}])
      program.thread(["does nothing": {}])
    }

    #expect(throws: ScheduleError.changed(failure.schedule)) {
      _ = try other.replay(failure.schedule)
    }
    #expect(throws: ScheduleError.unreadable("nonsense")) { _ = try other.replay("nonsense") }
  }

  @Test func `a program without a fault is searched to its end`() {
    let report = ScheduleCheck { program in
      let number = Locked(0)
      for _ in 0..<2 { program.thread(["adds 1": { number.withLock { $0 += 1 } }]) }
      program.whenQuiet { number.withLock { $0 } == 2 ? nil : "an update is lost" }
    }.search()

    #expect(report.failure == nil)
    #expect(report.completeBound == 2)
  }

  @Test(arguments: [Int.min, -1, 0, .max])
  func `an effort of any size comes to an end`(count: Int) {
    let effort = ScheduleEffort(preemptions: count, searchLimit: 50, randomCount: min(count, 50))
    let report = ScheduleCheck { program in
      let number = Locked(0)
      for _ in 0..<2 { program.thread(["adds 1": { number.withLock { $0 += 1 } }]) }
    }.search(effort)

    #expect(report.failure == nil)
    #expect(report.completeBound == max(-1, count))
  }

  @Test func `a search that is cut says that it has not run all schedules`() {
    let program = { (program: ScheduleProgram) in
      for _ in 0..<3 { program.thread(["does nothing": {}]) }
    }

    let reports = [1, 300].map { ScheduleCheck(program).search(ScheduleEffort(searchLimit: $0)) }

    #expect(reports.map(\.completeBound) == [-1, 2])
    #expect(reports[0].description.contains("not all without preemptions"))
    #expect(reports[1].description.contains("all at locks with up to 2 preemptions"))
  }

  @Test(arguments: [1, 2])
  func `a place is listed if no other thread ever went on there`(threadCount: Int) {
    let report = ScheduleCheck { program in
      let number = Locked(0)
      for _ in 0..<threadCount { program.thread(["adds 1": { number.withLock { $0 += 1 } }]) }
    }.search()

    #expect(report.places.count == 1)
    let isSwitchedAt = report.places.first { $0.key.contains("ScheduleCheckTests.swift:") }?.value
    #expect(isSwitchedAt == (threadCount > 1))
    let count = threadCount > 1 ? 0 : 1
    #expect(report.description.contains("1 places, \(count) of them never switched at"))
  }

  @Test func `the same seed gives the same schedules`() {
    let effort = ScheduleEffort(preemptions: 0, searchLimit: 0, randomCount: 200, seed: 7)
    let program = { (program: ScheduleProgram) in
      let number = Locked(0)
      for _ in 0..<3 {
        program.thread(["adds": { for _ in 0..<4 { number.withLock { $0 += 1 } } }])
      }
    }

    let counts = (0..<3).map { _ in ScheduleCheck(program).search(effort).distinctCount }

    #expect(Set(counts).count == 1 && counts[0] > 100)
  }

  @Test func `locks that are taken in two orders are a deadlock`() throws {
    let failure = try #require(
      ScheduleCheck { program in
        let (first, second) = (Locked(0), Locked(0))
        program.thread(["takes both": { first.withLock { _ in second.withLock { $0 += 1 } } }])
        program.thread(["takes both": { second.withLock { _ in first.withLock { $0 += 1 } } }])
      }.search().failure)

    #expect(failure.complaint.contains("no thread can go on"))
    #expect(
      failure.complaint.contains("thread 0 waits for") && failure.complaint.contains("thread 1"))
  }

  @Test func `a loop without an end is named`() throws {
    let failure = try #require(
      ScheduleCheck { program in
        let isOver = Locked(false)
        program.thread(["waits for ever": { while !isOver.withLock({ $0 }) {} }])
        program.thread(["does nothing": {}])
      }.search(ScheduleEffort(preemptions: 0, searchLimit: 1, randomCount: 0)).failure)

    #expect(failure.complaint.contains("thread 0 still goes on"))
  }

  @Test func `the work of a serial queue is done in order, one after the other`() {
    let report = ScheduleCheck { program in
      let (queue, group, pause) = (SerialQueue(label: "test"), WaitGroup(), Locked(()))
      let (done, isBusy, isIdle) = (Shared<[String]>([]), Shared(false), Shared(false))
      let faults = Shared<[String]>([])
      let work = { @Sendable (name: String) in
        if isBusy.value { faults.value.append("\(name) came between") }
        isBusy.value = true
        pause.withLock { _ in }
        isBusy.value = false
        done.value.append(name)
      }
      for thread in ["a", "b"] {
        program.thread([
          "adds": { queue.async(group: group) { work("\(thread)1") } },
          "waits": { queue.sync { work("\(thread)2") } },
          "notes": { if done.value.count < 2 { faults.value.append("sync did not wait") } },
        ])
      }
      program.thread(["asks": { group.notify(queue: queue) { isIdle.value = true } }])
      program.whenQuiet {
        let own = ["a", "b"].map { thread in done.value.filter { $0.hasPrefix(thread) } }
        if own != [["a1", "a2"], ["b1", "b2"]] { return "the order is \(done.value)" }
        return faults.value.first ?? (isIdle.value ? nil : "the group is never idle")
      }
    }.search()

    #expect(report.failure == nil, "\(report)")
  }

  @Test
  func `what a program begins is done before its threads, and what a check begins before the next`()
  {
    let report = ScheduleCheck { program in
      let (queue, order) = (SerialQueue(label: "test"), Shared<[String]>([]))
      queue.async { order.value.append("first") }
      program.thread(["adds": { order.value.append("second") }])
      program.whenQuiet {
        queue.async { order.value.append("third") }
        return nil
      }
      program.whenQuiet {
        order.value == ["first", "second", "third"] ? nil : "the order is \(order.value)"
      }
    }.search()

    #expect(report.failure == nil, "\(report)")
  }

  @Test func `tasks are threads of the schedule`() throws {
    let failure = try #require(
      ScheduleCheck { program in
        let order = Locked("")
        program.thread([
          "starts two tasks": {
            for name in ["a", "b"] { Task { order.withLock { $0 += name } } }
          }
        ])
        program.whenQuiet { order.withLock { $0 } == "ba" ? "in another order" : nil }
      }.search().failure)

    #expect(failure.complaint == "in another order")
    #expect(failure.steps.contains { $0.contains("hands work to thread 2") })
  }

  @Test func `an async value is awaited within the schedule`() {
    let report = ScheduleCheck { program in
      let promise = Promise<Int>()
      let sum = Shared(0)
      program.thread([
        "awaits": { Task { sum.value += try await promise.outcome.value } }
      ])
      program.thread(["keeps": { promise.keep(by: .just(3)) }])
      program.whenQuiet { sum.value == 3 ? nil : "the value is \(sum.value)" }
    }.search()

    #expect(report.failure == nil, "\(report)")
    #expect(report.completeBound >= 0)
  }
}
