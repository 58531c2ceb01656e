import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// What is acknowledged is there after a close, a release, a kill, or another cache of its folder.
@Suite(.schedules) struct DiskEndScheduleTests {
  @Test func `a close beside sets`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let (cache, order) = (disk.open(), CallOrder())
      let (set, closed) = (Witness<Void>(), Witness<Void>())
      program.thread(["sets": { order.call("set") { set.watch(cache.set(.bytes(1), for: "a")) } }])
      program.thread(["closes": { order.call("close") { closed.watch(cache.close()) } }])
      let last = program.reopen(["a"], in: disk)
      program.whenQuiet {
        let isStored = last[0].text == "1"
        if order.isBefore("set", "close"), !isStored { return "the set is lost" }
        if set.isCompleted, !isStored { return "the set is lost, though it has succeeded" }
        return set.complaint() ?? closed.complaint()
      }
    }
  }

  @Test func `a folder that is closed and opened again beside sets`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let (cache, next) = (disk.open(), Shared<DiskCache?>(nil))
      let (order, sets) = (CallOrder(), [Witness<Void>(), Witness<Void>()])
      program.thread([
        "sets 1": { order.call("1") { sets[0].watch(cache.set(.bytes(1), for: "a")) } },
        "closes": { cache.close() },
      ])
      program.thread([
        "opens": { next.value = disk.open() },
        "sets 2": {
          if let next = next.value {
            order.call("2") { sets[1].watch(next.set(.bytes(2), for: "a")) }
          }
        },
        "closes": { next.value?.close() },
      ])
      let last = program.reopen(["a"], in: disk)
      program.whenQuiet {
        for set in sets where !set.isCompleted { return "a set has ended with \(set.summary)" }
        for other in ["1", "2"] where order.isBefore(last[0].text, other) {
          return "\(last[0].text) is stored, though \(other) came later"
        }
        return last[0].text == "" ? "both sets are lost" : nil
      }
    }
  }

  @Test func `a cache that is released while another of its folder sets`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let former = Shared<DiskCache?>(disk.open())
      let next = Shared<DiskCache?>(nil)
      let set = Witness<Void>()
      program.thread([
        "sets 1": { former.value?.set(.bytes(1), for: "a") },
        "releases": { former.value = nil },
      ])
      program.thread([
        "opens": { next.value = disk.open() },
        "sets b": { if let next = next.value { set.watch(next.set(.bytes(2), for: "b")) } },
        "releases": { next.value = nil },
      ])
      let last = program.reopen(["a", "b"], in: disk)
      program.whenQuiet {
        let texts = last.map(\.text)
        return texts == ["1", "2"] && set.isCompleted ? nil : "got \(texts), \(set.summary)"
      }
    }
  }

  @Test func `a cache that is released and two later ones of its folder`() {
    // With this seed, early orders have the later cache wait for the closing.
    expectNoFault(ScheduleEffort(searchLimit: 25, randomCount: 200, seed: 8)) { program in
      let disk = DiskProgram()
      let former = Shared<DiskCache?>(disk.open())
      let (second, third) = (Shared<DiskCache?>(nil), Shared<DiskCache?>(nil))
      let (set, seen) = (Witness<Void>(), Witness<Data>())
      former.value?.set(.bytes(1), for: "a")
      program.thread([
        "releases": { former.value = nil },
        "opens": { second.value = disk.open() },
        "sets 2": { if let cache = second.value { set.watch(cache.set(.bytes(2), for: "a")) } },
        "opens a third": { third.value = disk.open() },
        "gets": { if let cache = third.value { seen.watch(cache.get("a")) } },
      ])
      program.whenQuiet {
        if seen.text != "2" { return "2 was set before the get, which got \(seen.text)" }
        return set.complaint() ?? seen.complaint()
      }
    }
  }

  @Test(arguments: [Durability.written, .synchronized])
  func `a flush beside sets, and then a kill`(durability: Durability) {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let (cache, order, flush) = (disk.open(), CallOrder(), Witness<Void>())
      let copy = Shared<DiskProgram?>(nil)
      program.thread([
        "sets 1": { order.call("1") { cache.set(.bytes(1), for: "a") } },
        "sets b": { order.call("b") { cache.set(.bytes(3), for: "b") } },
      ])
      program.thread([
        "sets 2": { order.call("2") { cache.set(.bytes(2), for: "a") } },
        "flushes": {
          order.call("flush") {
            flush.watch(cache.flush(durability).map { copy.value = disk.copied() })
          }
        },
      ])
      let last = program.reopen(["a", "b"], in: copy)
      program.whenQuiet {
        let texts = last.map(\.text)
        if texts[0] == "" || texts[0] == "1" && order.isBefore("1", "2") {
          return "2 is flushed, and \(texts[0]) is stored"
        }
        if order.isBefore("b", "flush"), texts[1] == "" { return "b is flushed, and not stored" }
        return flush.complaint()
      }
    }
  }

  @Test func `a kill beside sets and a removal`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let cache = disk.open()
      cache.set(.bytes(1), for: "a")
      cache.set(.file(1), for: "b")
      let sets = (0..<3).map { _ in Witness<Void>() }
      let done = Shared<[Bool]>([])
      let copy = Shared<DiskProgram?>(nil)
      program.thread([
        "sets a": { sets[0].watch(cache.set(.bytes(2), for: "a")) },
        "sets b": { sets[1].watch(cache.set(.file(2), for: "b")) },
        "removes a": { sets[2].watch(cache.remove("a")) },
      ])
      program.thread([
        "is killed": {
          done.value = sets.map(\.isCompleted)
          copy.value = disk.copied()
        }
      ])
      let last = program.reopen(["a", "b"], in: copy)
      program.whenQuiet {
        let texts = last.map(\.text)
        if done.value[2], texts[0] != "" { return "a removed value is stored" }
        if done.value[0], texts[0] == "1" { return "a set of a is lost" }
        if texts[1] == "" || done.value[1] && texts[1] == "1" { return "a set of b is lost" }
        // The writes arrive in their order.
        return texts == ["", "1"] || texts == ["2", "2"] || texts == ["", "2"] || texts[0] != ""
          ? nil : "got \(texts)"
      }
    }
  }

  @Test func `a kill beside a removal of everything and a set`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let (cache, removal, order) = (disk.open(), Witness<Void>(), CallOrder())
      cache.set(.secret, for: "a")
      cache.set(.file(1), for: "b")
      let (isRemoved, copy) = (Shared(false), Shared<DiskProgram?>(nil))
      program.thread(["removes": { removal.watch(cache.removeAll()) }])
      program.thread(["sets": { order.call("set") { cache.set(.bytes(2), for: "c") } }])
      program.thread([
        "is killed": {
          isRemoved.value = removal.isCompleted
          copy.value = disk.copied()
        }
      ])
      let last = program.reopen(["a", "b"], in: copy)
      program.whenQuiet {
        let isLeft =
          copy.value?.contains(.secret) == true || copy.value?.valueFiles.isEmpty == false
        if isRemoved.value, isLeft { return "bytes of a removed value are left" }
        let texts = last.map(\.text)
        return Set(texts.map(\.isEmpty)).count == 1 ? removal.complaint() : "got \(texts)"
      }
    }
  }

  @Test func `a kill beside two sets of a key and a removal of everything`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let (cache, order) = (disk.open(), CallOrder())
      let (set, removal) = (Witness<Void>(), Witness<Void>())
      let done = Shared<(isSet: Bool, isRemoved: Bool)>((false, false))
      let copy = Shared<DiskProgram?>(nil)
      program.thread([
        "sets 1": { cache.set(.bytes(1), for: "a") },
        "sets 2": { order.call("set") { set.watch(cache.set(.bytes(2), for: "a")) } },
      ])
      program.thread(["removes": { order.call("all") { removal.watch(cache.removeAll()) } }])
      program.thread([
        "is killed": {
          done.value = (set.isCompleted, removal.isCompleted)
          copy.value = disk.copied()
        }
      ])
      let last = program.expectSame(["a"], of: cache, in: disk)
      let killed = program.reopen(["a"], in: copy)
      program.whenQuiet {
        let texts = [last[0].text, killed[0].text]
        if order.isBefore("set", "all"), texts[0] != "" || done.value.isRemoved && texts[1] != "" {
          return "got \(texts), and the removal was the last"
        }
        if order.isBefore("all", "set"), texts[0] != "2" || done.value.isSet && texts[1] != "2" {
          return "got \(texts), and the set was the last"
        }
        return set.complaint() ?? removal.complaint()
      }
    }
  }

  @Test func `a kill beside values that are set together, and a later set of one`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let cache = disk.open()
      for key in ["a", "b"] { cache.set(.bytes(1), for: key) }
      let (group, later) = (Witness<Void>(), Witness<Void>())
      let (done, copy) = (Shared<[Bool]>([]), Shared<DiskProgram?>(nil))
      program.thread([
        "sets both": { group.watch(cache.set(all: ["a": .bytes(2), "b": .bytes(2)])) },
        "sets a": { later.watch(cache.set(.bytes(3), for: "a")) },
      ])
      program.thread([
        "is killed": {
          done.value = [group.isCompleted, later.isCompleted]
          copy.value = disk.copied()
        }
      ])
      let last = program.reopen(["a", "b"], in: copy)
      program.whenQuiet {
        let found = last.map(\.text).joined(separator: " ")
        var allowed = ["1 1", "2 2", "3 2"]
        if done.value[0] { allowed.removeFirst() }
        if done.value[1] { allowed = ["3 2"] }
        return allowed.contains(found) ? nil : "\(found), not \(allowed)"
      }
    }
  }

  @Test func `a kill beside a compaction`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram(byteLimit: 65_536)
      let cache = disk.open()
      cache.set(.bytes(7, count: 500), for: "kept")
      for number in 1...3 { cache.set(.bytes(number, count: 900), for: "\(number)") }
      let writes = (0..<4).map { _ in Witness<Void>() }
      let (done, copy) = (Shared<[Bool]>([]), Shared<DiskProgram?>(nil))
      program.thread([
        "removes": { for number in 1...3 { writes[number].watch(cache.remove("\(number)")) } },
        "sets a": { writes[0].watch(cache.set(.bytes(4), for: "a")) },
      ])
      program.thread([
        "is killed": {
          done.value = writes.map(\.isCompleted)
          copy.value = disk.copied()
        }
      ])
      let last = program.reopen(["a", "1", "2", "3", "kept"], in: copy)
      program.whenQuiet {
        let texts = last.map(\.text)
        if texts[4] != "7" || done.value[0] && texts[0] != "4" { return "got \(texts)" }
        for number in 1...3 {
          let allowed = done.value[number] ? [""] : ["", "\(number)"]
          if !allowed.contains(texts[number]) { return "\(texts[number]) is stored" }
        }
        return nil
      }
    }
  }

  @Test func `two caches of a folder that write the same key`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let (one, other, order) = (disk.open(), disk.open(), CallOrder())
      let seen = Witness<Data>()
      program.thread(["sets 1": { order.call("1") { one.set(.bytes(1), for: "a") } }])
      program.thread([
        "sets 2": { order.call("2") { other.set(.bytes(2), for: "a") } },
        "closes": { other.close() },
      ])
      program.thread(["gets": { seen.watch(one.get("a")) }])
      let last = program.expectSame(["a"], of: one, in: disk)
      program.whenQuiet {
        for other in ["1", "2"] where order.isBefore(last[0].text, other) {
          return "\(last[0].text) is stored, though \(other) came later"
        }
        return last[0].text == "" ? "both sets are lost" : seen.complaint()
      }
    }
  }

  @Test func `a renewal of a time to live beside a set`() {
    expectNoFault(ScheduleEffort(searchLimit: 150, randomCount: 50)) { program in
      let disk = DiskProgram()
      let (cache, renewal) = (disk.open(), Witness<Void>())
      cache.set(.bytes(1), for: "a")
      program.thread([
        "renews": { renewal.watch(cache.setTimeToLive(.seconds(9), for: "a").map { _ in () }) }
      ])
      program.thread(["sets 2": { cache.set(.bytes(2), for: "a") }])
      let last = program.expectSame(["a"], of: cache, in: disk)
      program.whenQuiet { last[0].text == "1" ? "the set is lost" : renewal.complaint() }
    }
  }
}
