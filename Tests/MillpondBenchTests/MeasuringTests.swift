import MillpondSignals
import TestTraits
import Testing

@testable import MillpondBench

@Suite struct MeasuringTests {
  @Test func `the first work is ours, and the others are floors by their names`() throws {
    var sample = Sample(name: "row", summary: "", unit: "ns")

    try sample.measure(
      [counting("ours"), counting("one"), counting("two")], 3, repetitions: 2)

    #expect(sample.isSumRight && sample.value != nil)
    #expect(sample.floors.map(\.name) == ["one", "two"])
  }

  @Test(arguments: [0, 1])
  func `a wrong sum of ours or of a floor is a wrong row`(wrong: Int) throws {
    var works = [counting("ours"), counting("floor")]
    works[wrong] = Work("wrong", expected: { $0 }, run: { $0 + 1 })
    var sample = Sample(name: "row", summary: "", unit: "ns")

    try sample.measure(works, 3, repetitions: 1)

    #expect(sample.verdict == .wrong)
  }

  @Test func `a work of few operations does no more, and each has its share of the time`() throws {
    let counts = Locked([Int]())
    let few = Work(few: 2) { count in
      counts.withLock { $0.append(count) }
      return count
    }
    var sample = Sample(name: "row", summary: "", unit: "s")
    var seconds = 0.0

    try sample.measure([few], 5, repetitions: 1) {
      seconds += 3
      return seconds
    }

    #expect(counts.withLock { $0 } == [2])
    #expect(sample.value == 1.5)
  }

  @Test func `works are prepared each time, and their turns alternate`() throws {
    let turns = Locked([String]())
    let works = ["a", "b"].map { name in
      Work(
        name, expected: { $0 }, prepare: { turns.withLock { $0.append("+" + name) } },
        run: { count in
          turns.withLock { $0.append(name) }
          return count
        })
    }
    var sample = Sample(name: "row", summary: "", unit: "ns")

    try sample.measure(works, 1, repetitions: 2)

    #expect(turns.withLock { $0 } == ["+a", "a", "+b", "b", "+b", "b", "+a", "a"])
  }

  @Test func `a row that fails is a wrong sample, and one that lacks something is not`() throws {
    let run = Run(isQuick: true, folder: try WorkFolder(in: "/tmp"))
    defer { run.folder.clear() }
    var samples: [Sample] = []

    Row("broken", "") { _, _ in throw Trouble("full") }
      .samples(run) { samples.append($0) }
    Row("absent", "") { _, _ in throw Trouble("no server", isAbsence: true) }
      .samples(run) { samples.append($0) }

    #expect(samples.map(\.verdict) == [.wrong, .none])
    #expect(samples.map(\.note) == ["full", "no server"])
  }

  @Test func `work whose check says no is a wrong worst case`() throws {
    let run = Run(isQuick: true, folder: try WorkFolder(in: "/tmp"))
    defer { run.folder.clear() }
    var verdicts: [Sample.Verdict] = []

    for isRight in [true, false] {
      Row.worst("row", "", greatest: 1_000, wait: nil) { _ in
        WorstCase {
        } check: {
          isRight
        }
      }.samples(run) { verdicts.append($0.verdict) }
    }

    #expect(verdicts == [.none, .none, .wrong, .wrong])
  }

  private func counting(_ name: String) -> Work {
    Work(name, expected: { $0 }, run: { $0 })
  }
}

@Suite(.heavy) struct AllocationRowTests {
  /// Allocations are counted for the whole process, so it has one of its own.
  @Test func `a value that is replayed copies none of those before it`() async {
    await #expect(processExitsWith: .success) {
      let row = try #require(replayRows().first { $0.name == "replay-1000" })
      let run = Run(isQuick: true, folder: try WorkFolder(in: "/tmp"))
      defer { run.folder.clear() }
      var allocations: Sample?

      row.samples(run) { allocations = $0 }

      #expect(allocations?.name == "replay-1000-mallocs")
      #expect(allocations?.verdict == .met)
    }
  }
}
