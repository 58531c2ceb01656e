import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// The code of the page "Searching the orders of threads".
@Suite(.schedules) struct OrdersOfThreadsPageTests {
  @Test func `a like is lost by one switch`() throws {
    // snippet
    let check = ScheduleCheck { program in
      let likes = MemoryCache<String, Int>(countLimit: 10)
      likes.set(0, for: "post")
      for reader in ["Ann", "Bob"] {
        program.thread([
          "\(reader) likes the post": {
            let count = likes.peek("post") ?? 0
            likes.set(count + 1, for: "post")
          }
        ])
      }
      program.whenQuiet { likes.peek("post") == 2 ? nil : "a like is lost" }
    }
    let report = check.search()
    // end

    let failure = try #require(report.failure)
    #expect(failure.complaint == "a like is lost")
    #expect(failure.preemptions == 1)
    #expect(failure.steps.first == "thread 0: Ann likes the post")
    #expect(try check.replay(failure.schedule)?.steps == failure.steps)
  }
}
