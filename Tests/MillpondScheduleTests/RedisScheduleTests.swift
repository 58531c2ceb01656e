import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondRedis

/// Commands that several threads submit are sent whole and in order, and answered once, also when
/// the connection is lost; memory that follows has what the server has.
@Suite(.schedules) struct RedisScheduleTests {
  @Test func `commands of two threads beside the thread of the connection`() {
    expectNoFault(.redis) { program in
      let redis = RedisProgram()
      program.thread(["submits 1 and 2": { for name in ["1", "2"] { redis.submit(name) } }])
      program.thread(["submits 3": { redis.submit("3") }])
      program.thread(["looks": { for _ in 0..<4 { redis.look() } }])
      redis.expectAnswers(program)
      program.whenQuiet {
        if redis.answers.values.contains(where: { $0 != [.answered] }) {
          return "the answers are \(redis.answers)"
        }
        return ["1", "2"].starts(with: redis.received.filter { $0 != "3" && $0 != "last" })
          ? nil : "the server received \(redis.received)"
      }
    }
  }

  @Test func `commands beside the loss of the connection`() {
    expectNoFault(.redis) { program in
      let redis = RedisProgram()
      redis.connect()
      program.thread([
        "submits a read": { redis.submit("read") }, "submits 1": { redis.submit("1") },
      ])
      program.thread([
        "hangs up": { redis.hangUp() }, "looks": { for _ in 0..<3 { redis.look() } },
      ])
      program.thread(["submits 2": { redis.submit("2") }])
      redis.expectAnswers(program)
      program.whenQuiet {
        for name in ["1", "2"] where redis.received.count(where: { $0 == name }) > 1 {
          return "\(name) was sent twice"
        }
        return nil
      }
    }
  }

  @Test func `a client that is closed beside commands`() {
    expectNoFault(.redis) { program in
      let redis = RedisProgram()
      redis.connect()
      program.thread(["submits 1": { redis.submit("1") }, "submits 2": { redis.submit("2") }])
      program.thread(["looks": { for _ in 0..<2 { redis.look() } }, "closes": { redis.close() }])
      program.whenQuiet {
        for (name, answers) in redis.answers where answers.count != 1 {
          return "\(name) has the answers \(answers)"
        }
        return nil
      }
    }
  }

  @Test func `memory that follows beside the loss of the connection`() {
    expectNoFault(.redis) { program in
      let redis = RedisProgram(tracking: .byPrefix)
      let shared = RedisCache(redis.client, prefix: "p/", form: .plain)
      let memory = MemoryCache<String, Data>(countLimit: 10)
      let cache = memory.following(shared).layered(over: shared)
      let seen = Witness<Data>()
      redis.setElsewhere("p/a", to: "1")
      redis.connect()
      program.thread(["gets": { seen.watch(cache.get("a")) }])
      program.thread([
        "looks": { redis.look() },
        "hangs up": { redis.hangUp() },
        "another process sets 2": { redis.setElsewhere("p/a", to: "2") },
        "looks again": { for _ in 0..<2 { redis.look() } },
      ])
      program.whenQuiet {
        for _ in 0..<20 { redis.look() }
        if let above = memory.peek("a"), above != redis.values["p/a"].map({ Data($0.utf8) }) {
          return "\(String(decoding: above, as: UTF8.self)) is in memory, \(redis.values) below"
        }
        return seen.complaint()
      }
    }
  }

  @Test func `memory that follows beside a set of this process and one of another`() {
    expectNoFault(ScheduleEffort(searchLimit: 200, randomCount: 100)) { program in
      let redis = RedisProgram(tracking: .byPrefix)
      let shared = RedisCache(redis.client, prefix: "p/", form: .plain)
      let memory = MemoryCache<String, Data>(countLimit: 10)
      let cache = memory.following(shared).layered(over: shared)
      let (set, seen) = (Witness<Void>(), Witness<Data>())
      redis.connect()
      program.thread(["sets 1": { set.watch(cache.set(.bytes(1), for: "a")) }])
      program.thread(["gets": { seen.watch(cache.get("a")) }])
      program.thread([
        "another process sets 2": { redis.setElsewhere("p/a", to: "2") },
        "looks": { for _ in 0..<3 { redis.look() } },
      ])
      program.whenQuiet {
        for _ in 0..<20 { redis.look() }
        let (above, below) = (memory.peek("a"), redis.values["p/a"])
        if !redis.client.isTracking { return "nothing is reported" }
        if !set.isCompleted { return "the set has ended with \(set.summary)" }
        if let above, above != below.map({ Data($0.utf8) }) {
          return "\(above) is in memory, and \(below ?? "nothing") on the server"
        }
        return seen.complaint()
      }
    }
  }

  @Test func `a removal by predicate beside an earlier set`() {
    expectNoFault(.redis) { program in
      let redis = RedisProgram()
      let shared = RedisCache(redis.client, prefix: "p/", form: .plain)
      let (removal, set) = (Witness<Void>(), Witness<Void>())
      let (earlier, later) = (Revision.next(), Revision.next())
      redis.connect()
      program.thread([
        "sets": { set.watch(shared.apply(.set("a", Stamped(.bytes(1)), earlier))) }
      ])
      program.thread([
        "removes": {
          removal.watch(shared.apply(.removeMatching(KeyPredicate { $0 == "a" }, later)))
        },
        "looks": { for _ in 0..<6 { redis.look() } },
      ])
      program.whenQuiet {
        for _ in 0..<20 { redis.look() }
        if redis.values["p/a"] != nil { return "the removed value has come back" }
        return removal.complaint() ?? set.complaint()
      }
    }
  }

  /// The set is refused, so that a removal which left the key to it would leave the old value.
  @Test func `a removal of everything beside a set that the server refuses`() {
    expectNoFault(.redis) { program in
      let redis = RedisProgram()
      let shared = RedisCache(redis.client, prefix: "p/", form: .plain)
      let (removal, set) = (Witness<Void>(), Witness<Void>())
      redis.setElsewhere("p/a", to: "old")
      redis.isFull = true
      redis.connect()
      program.thread(["removes all": { removal.watch(shared.removeAll()) }])
      program.thread(["sets": { set.watch(shared.set(.bytes(1), for: "a")) }])
      program.thread(["looks": { for _ in 0..<3 { redis.look() } }])
      program.whenQuiet {
        for _ in 0..<20 { redis.look() }
        if removal.isCompleted, redis.values["p/a"] == "old" { return "the old value is left" }
        return removal.complaint()
      }
    }
  }
}

extension ScheduleEffort {
  /// Fewer schedules, since each connects.
  fileprivate static var redis: ScheduleEffort {
    ScheduleEffort(searchLimit: 100, randomCount: 100)
  }
}
