import Synchronization
import Testing

@testable import MillpondBench

@Suite struct MemoryMeasuringTests {
  private let effort = MemoryEffort(
    sizeLimit: .max, visits: 200, strangers: 70, repetitions: { _ in 2 })

  @Test(arguments: KeyKind.allCases, [1, 2])
  func `the sums of all operations are right`(kind: KeyKind, threads: Int) {
    let rows = MemoryRow.Operation.allCases.map {
      MemoryRow(operation: $0, kind: kind, size: 50, threads: threads)
    }
    var measurements: [MemoryMeasurement] = []

    measure(rows, effort) { measurements.append($0) }

    #expect(measurements.map(\.name) == rows.map(\.name))
    #expect(measurements.allSatisfy { $0.isSumRight })
  }
}

@Suite struct StockedTests {
  private let dataset = MemoryDataset<Int>(size: 40, strangers: 40)

  @Test(arguments: [1, 2])
  func `a contender that forgets one key is detected by hits and mixed visits`(threads: Int) {
    let hits = FilledMemory<Forgetful>(dataset, .disorderly(0..<40, threads: threads))
    let mixed = FilledMemory<Forgetful>(dataset, .mixed(size: 40, count: 1_000, threads: threads))

    #expect(!isRight(hits.lookUps("", areFound: true), 40 * threads))
    #expect(!isRight(mixed.mixed(""), 1_000 * threads))
  }

  @Test func `a contender that has what it was never given is detected by misses`() {
    let misses = FilledMemory<Forgetful>(dataset, .disorderly(40..<80, threads: 1))

    #expect(!isRight(misses.lookUps("", areFound: false), 40))
  }

  @Test func `a contender that keeps too many, or too few, is detected by inserts`() {
    let visits = Visits.shared(40..<80, threads: 2)

    #expect(!isRight(FilledMemory<DictionaryContender<Int>>(dataset, visits).inserts(""), 40))
    #expect(!isRight(FilledMemory<Forgetful>(dataset, visits).inserts(""), 40))
    #expect(isRight(FilledMemory<RingContender<Int>>(dataset, visits).inserts(""), 40))
  }

  @Test func `the preparation of a repetition is done each time`() {
    let prepared = Counter()
    let work = Work(
      "", expected: { _ in prepared.count }, prepare: { prepared.add() }, run: { _ in 3 })
    var timing = Timing(work, 1)

    for _ in 0..<3 { timing.repeatOnce() }

    #expect(prepared.count == 3)
    #expect(!timing.isSumRight)
  }

  private func isRight(_ work: Work, _ operations: Int) -> Bool {
    var timing = Timing(work, operations)
    timing.repeatOnce()
    return timing.isSumRight
  }
}

/// A contender that lacks the key 7, and claims to have the key 77.
private struct Forgetful: MemoryContender {
  private let ring: RingContender<Int>

  init(limit: Int) {
    ring = RingContender(limit: limit)
  }

  func number(for key: Int) -> Int? {
    key == 77 ? 77 : ring.number(for: key)
  }

  func keep(_ value: Int, for key: Int) {
    if key != 7 { ring.keep(value, for: key) }
  }

  func count(among keys: [Int]) -> Int {
    ring.count(among: keys) - 1
  }
}

private final class Counter: Sendable {
  private let value = Atomic(0)

  var count: Int {
    value.load(ordering: .relaxed)
  }

  func add() {
    value.add(1, ordering: .relaxed)
  }
}
