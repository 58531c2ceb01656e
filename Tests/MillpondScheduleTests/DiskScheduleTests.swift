import Foundation
import MillpondCore
import MillpondEntities
import MillpondEntityArchive
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Calls of a disk cache that overlap leave the folder as one order of them would, and what was
/// acknowledged is there when it is opened again.
@Suite(.schedules) struct DiskScheduleTests {
  @Test func `two sets of a key and a get`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let cache = disk.open()
      let (order, seen) = (CallOrder(), Witness<Data>())
      program.thread([
        "sets 1": { order.call("1") { cache.set(.bytes(1), for: "a") } },
        "gets": { seen.watch(cache.get("a")) },
      ])
      program.thread(["sets 2": { order.call("2") { cache.set(.bytes(2), for: "a") } }])
      program.whenQuiet { seen.values.count == 1 ? seen.complaint() : "got \(seen.text)" }
      let last = program.expectSame(["a"], of: cache, in: disk)
      program.whenQuiet {
        for other in ["1", "2"] where order.isBefore(last[0].text, other) {
          return "\(last[0].text) is stored, though \(other) came later"
        }
        // A get of 2 after the own set puts that one last.
        return seen.text == "2" && last[0].text == "1" ? "got 2, and 1 is stored" : nil
      }
    }
  }

  @Test func `a set, a removal and a removal of everything`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let (cache, order) = (disk.open(), CallOrder())
      let (set, removal) = (Witness<Void>(), Witness<Void>())
      program.thread(["sets": { order.call("set") { set.watch(cache.set(.bytes(1), for: "a")) } }])
      program.thread(["removes": { order.call("remove") { cache.remove("a") } }])
      program.thread(["removes all": { order.call("all") { removal.watch(cache.removeAll()) } }])
      let last = program.expectSame(["a"], of: cache, in: disk)
      program.whenQuiet {
        let isStored = !last[0].values.isEmpty
        if isStored, order.isBefore("set", "remove") || order.isBefore("set", "all") {
          return "a removed value is stored"
        }
        if !isStored, order.isBefore("remove", "set"), order.isBefore("all", "set") {
          return "the set is lost"
        }
        return set.complaint() ?? removal.complaint()
      }
    }
  }

  @Test func `a removal by predicate beside sets`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let (cache, order, removal) = (disk.open(), CallOrder(), Witness<Void>())
      cache.set(.bytes(9), for: "a")
      program.thread(["sets 1": { order.call("set") { cache.set(.bytes(1), for: "a") } }])
      program.thread([
        "removes": { order.call("all") { removal.watch(cache.removeAll { $0 == "a" }) } }
      ])
      program.thread(["sets b": { cache.set(.bytes(2), for: "b") }])
      let last = program.expectSame(["a", "b"], of: cache, in: disk)
      program.whenQuiet {
        let value = last[0].text
        if value == "9" { return "the old value is stored" }
        if order.isBefore("set", "all"), value == "1" { return "a removed value is stored" }
        if order.isBefore("all", "set"), value != "1" { return "the set is lost" }
        return last[1].text == "2" ? removal.complaint() : "another key's value is lost"
      }
    }
  }

  @Test func `sets and gets beside a compaction`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram(byteLimit: 65_536)
      let (cache, seen) = (disk.open(), Witness<Data>())
      cache.set(.bytes(7, count: 500), for: "kept")
      for number in 1...3 { cache.set(.bytes(number, count: 900), for: "\(number)") }
      program.thread([
        "removes": { for number in 1...3 { cache.remove("\(number)") } },
        "sets 6": { cache.set(.bytes(6), for: "a") },
      ])
      program.thread(["gets": { seen.watch(cache.get("kept")) }])
      program.thread(["sets b": { cache.set(.bytes(8), for: "b") }])
      let last = program.expectSame(["kept", "a", "b", "1"], of: cache, in: disk)
      program.whenQuiet {
        let texts = last.map(\.text) + [seen.text]
        return texts == ["7", "6", "8", "", "7"] ? seen.complaint() : "got \(texts)"
      }
    }
  }

  @Test func `evictions beside a get and a set`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram(byteLimit: 65_536)
      let (cache, seen) = (disk.open(), Witness<Data>())
      for number in 1...3 { cache.set(.bytes(number, count: 14_000), for: "\(number)") }
      program.thread(["sets 4": { cache.set(.bytes(4, count: 14_000), for: "4") }])
      program.thread([
        "gets 1": { seen.watch(cache.get("1")) },
        "sets 5": { cache.set(.bytes(5, count: 14_000), for: "5") },
      ])
      let found = (1...5).map { _ in Witness<Data>() }
      program.whenQuiet {
        if disk.byteCount > 65_536 { return "\(disk.byteCount) bytes are stored" }
        for number in 1...5 { found[number - 1].watch(cache.get("\(number)")) }
        return seen.complaint()
      }
      program.whenQuiet {
        let texts = found.map(\.text)
        for (place, text) in texts.enumerated() where !["", "\(place + 1)"].contains(text) {
          return "got \(text) of \(place + 1)"
        }
        return texts[3...].contains("") ? "a new value is lost: \(texts)" : nil
      }
    }
  }

  // MARK: Files

  @Test func `a file that is asked for beside a set and a removal`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let cache = disk.open()
      cache.set(.file(1), for: "a")
      let seen = Shared<DiskFile?>(nil)
      let end = Witness<Void>()
      program.thread([
        "asks": { end.watch(cache.file(for: "a").map { seen.value = $0 }) }
      ])
      program.thread(["sets 2": { cache.set(.file(2), for: "a") }])
      program.thread(["removes": { cache.remove("a") }])
      program.whenQuiet {
        if let file = seen.value {
          let bytes = try? Data(contentsOf: file.url)
          if bytes != .file(1), bytes != .file(2) { return "the file is not whole" }
        }
        seen.value = nil
        return end.complaint()
      }
      program.expectSame(["a"], of: cache, in: disk)
      program.whenQuiet { disk.valueFiles.count > 1 ? "\(disk.valueFiles) are left" : nil }
    }
  }

  @Test func `a file that is given back beside a removal of its value and another look`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let cache = disk.open()
      let (file, other) = (Shared<DiskFile?>(nil), Shared<DiskFile?>(nil))
      let (removal, end) = (Witness<Void>(), Witness<Void>())
      cache.set(.file(1), for: "a")
      cache.file(for: "a").subscribe(onNext: { file.value = $0 })
      program.thread(["gives back": { file.value = nil }])
      program.thread(["removes": { removal.watch(cache.remove("a")) }])
      program.thread(["looks": { end.watch(cache.file(for: "a").map { other.value = $0 }) }])
      program.whenQuiet {
        if let other = other.value, (try? Data(contentsOf: other.url)) != .file(1) {
          return "the file is not whole"
        }
        other.value = nil
        return removal.complaint() ?? end.complaint()
      }
      program.whenQuiet { disk.valueFiles.isEmpty ? nil : "\(disk.valueFiles) are left" }
    }
  }

  @Test func `a stream beside a set and a removal of everything`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let cache = disk.open()
      let (origin, order) = (TestSource<Data>(), CallOrder())
      let (stored, removed, left) = (Witness<Void>(), Witness<Void>(), Shared<[String]>([]))
      program.thread([
        "streams": {
          order.call("stream") { stored.watch(cache.storing(origin.signal, for: "a")) }
        },
        "sends": {
          origin.next(.file(1))
          origin.completed()
        },
      ])
      program.thread([
        "removes": {
          order.call("all") {
            removed.watch(
              cache.removeAll().map {
                if order.isBefore("stream", "all") { left.value = disk.valueFiles }
              })
          }
        }
      ])
      program.thread(["sets b": { order.call("set") { cache.set(.bytes(2), for: "b") } }])
      let last = program.expectSame(["a", "b"], of: cache, in: disk)
      program.whenQuiet {
        let texts = last.map(\.text)
        if order.isBefore("stream", "all"), texts[0] != "" { return "a removed value is stored" }
        if order.isBefore("all", "stream"), texts[0] == "" { return "the stream is lost" }
        if order.isBefore("all", "set"), texts[1] == "" { return "the set is lost" }
        if !left.value.isEmpty { return "\(left.value) are left by the removal" }
        let count = disk.valueFiles.count
        if count != (texts[0] == "" ? 0 : 1) { return "\(count) files are left" }
        return stored.complaint() ?? removed.complaint()
      }
    }
  }

  // MARK: Layers

  @Test func `two writers of a memory over a disk, and an eviction`() {
    expectNoFault(ScheduleEffort(searchLimit: 150, randomCount: 100)) { program in
      let disk = DiskProgram()
      let (memory, lower) = (MemoryCache<String, Data>(countLimit: 10), disk.open())
      let cache = memory.layered(over: lower)
      program.thread([
        "sets 1": { cache.set(.bytes(1), for: "a") }, "evicts": { memory.trim(to: 0) },
      ])
      program.thread(["sets 2": { cache.set(.bytes(2), for: "a") }])
      let above = Shared<Data?>(nil)
      program.whenQuiet {
        above.value = memory.peek("a")
        return nil
      }
      let last = program.expectSame(["a"], of: lower, in: disk)
      program.whenQuiet {
        above.value != nil && last[0].values != [above.value]
          ? "another value is above than \(last[0].text)" : nil
      }
    }
  }

  @Test func `a get that fills a memory over a disk beside a set and an eviction`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let (memory, lower) = (MemoryCache<String, Data>(countLimit: 10), disk.open())
      let (cache, seen) = (memory.layered(over: lower), Witness<Data>())
      lower.set(.bytes(1), for: "a")
      program.thread(["gets": { seen.watch(cache.get("a")) }])
      program.thread([
        "sets 2": { cache.set(.bytes(2), for: "a") }, "evicts": { memory.trim(to: 0) },
      ])
      program.whenQuiet {
        if let above = memory.peek("a"), above != .bytes(2) { return "the older value is above" }
        return seen.values.count == 1 ? seen.complaint() : "got \(seen.text)"
      }
      let last = program.expectSame(["a"], of: lower, in: disk)
      program.whenQuiet { last[0].text == "2" ? nil : "the set is lost" }
    }
  }

  @Test func `the end of a scope beside a set and a get`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let (scope, lower) = (CacheScope(), disk.open())
      let memory = MemoryCache<String, Data>(countLimit: 10)
      let cache = memory.layered(over: lower).scoped(to: scope)
      let (order, end, seen) = (CallOrder(), Witness<Void>(), Witness<Data>())
      let isErased = Shared(true)
      program.thread(["sets": { order.call("set") { cache.set(.secret, for: "a") } }])
      program.thread([
        "ends": {
          order.call("end") {
            end.watch(
              scope.end().map {
                // A set that has not returned may be of the next user.
                if order.hasReturned("set") { isErased.value = !disk.contains(.secret) }
              })
          }
        }
      ])
      program.thread(["gets": { seen.watch(cache.get("a")) }])
      let last = program.expectSame(["a"], of: lower, in: disk)
      program.whenQuiet {
        if order.isBefore("set", "end"), !last[0].values.isEmpty { return "a value is left" }
        if order.isBefore("set", "end"), !isErased.value { return "bytes are left" }
        if order.isBefore("end", "set"), last[0].values.isEmpty { return "the set is lost" }
        return end.isCompleted ? seen.complaint() : "the end has failed: \(end.summary)"
      }
    }
  }

  // MARK: An archive

  private struct Book: Entity, Codable {
    let id: Int
    var title: String
  }

  private static let types = [ArchivedType(Book.self, named: "book")]

  @Test func `a transaction of an archive beside a flush and a kill`() {
    expectNoFault(.disk) { program in
      let disk = DiskProgram()
      let (store, cache, order) = (EntityStore(clock: ManualClock()), disk.open(), CallOrder())
      let archive = EntityArchive(of: store, in: cache, types: Self.types)
      let (flush, copy) = (Witness<Void>(), Shared<DiskProgram?>(nil))
      program.thread([
        "sets two": {
          order.call("set") {
            store.update { books in
              for id in 1...2 { books.set(Book(id: id, title: "new")) }
            }
          }
        }
      ])
      program.thread([
        "flushes": { order.call("flush") { flush.watch(archive.flush()) } },
        "is killed": {
          if flush.isCompleted { order.call("kill") {} }
          copy.value = disk.copied()
        },
      ])
      program.thread(["sets a third": { store.set(Book(id: 3, title: "new")) }])
      let (later, restored) = (EntityStore(clock: ManualClock()), Witness<Int>())
      let next = Shared<EntityArchive?>(nil)
      program.whenQuiet {
        guard let copy = copy.value else { return nil }
        next.value = EntityArchive(of: later, in: copy.open(), types: Self.types)
        if let archive = next.value { restored.watch(archive.restored) }
        return flush.complaint()
      }
      program.whenQuiet {
        let titles = (1...2).map { later.get(Reference<Book>($0))?.title }
        next.value = nil
        if titles[0] != titles[1] { return "half of a transaction is restored: \(titles)" }
        let isFlushed = order.isBefore("set", "flush") && order.hasReturned("kill")
        if isFlushed, titles[0] == nil { return "a flushed transaction is not restored" }
        return restored.complaint()
      }
    }
  }
}
