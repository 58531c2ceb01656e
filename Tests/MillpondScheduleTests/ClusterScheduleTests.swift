import MillpondTesting
import Testing

@testable import MillpondRedis

/// The writes of a key keep the order in which a thread has made them, and are answered once, while
/// its slot moves from one server to another.
@Suite(.schedules) struct ClusterScheduleTests {
  @Test(arguments: [1, 2])
  func `writes of two threads beside a slot that moves`(moves: Int) {
    expectNoFault(ScheduleEffort(searchLimit: 150, randomCount: 150)) { program in
      let cluster = ClusterProgram()
      cluster.connect()
      program.thread(["sets 1": { cluster.set("1") }, "sets 2": { cluster.set("2") }])
      program.thread(["sets a": { cluster.set("a") }, "sets b": { cluster.set("b") }])
      program.thread([
        "looks": { cluster.look() }, "moves the slot": { cluster.move() },
        "looks again": { for _ in 0..<3 { cluster.look() } },
        "moves it back, or not": { if moves == 2 { cluster.move() } },
      ])
      program.whenQuiet {
        for _ in 0..<30 { cluster.look() }
        if ["1", "2", "a", "b"].contains(where: { cluster.answers[$0] != 1 }) {
          return "the answers are \(cluster.answers)"
        }
        let written = cluster.written
        for pair in [["1", "2"], ["a", "b"]] where written.filter(pair.contains) == pair.reversed()
        {
          return "\(written) is another order than that of the threads"
        }
        if moves == 1, cluster.failures > 0 { return "\(cluster.failures) have failed" }
        return nil
      }
    }
  }
}
