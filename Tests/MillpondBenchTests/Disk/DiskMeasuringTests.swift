import Foundation
import MillpondSignals
import TestTraits
import Testing

@testable import MillpondBench

@Suite(.heavy) struct DiskMeasuringTests {
  private static let effort = DiskEffort(repetitions: 2, share: 5_000, fileLimit: 3)

  private static let rows = DiskRow.all.filter { $0.subject.size?.isSmall ?? true }

  @Test func `the sums of all rows are right, and nothing is left in the folder`() async throws {
    let scene = try SiteScene()

    let measurements = await onThread {
      var measurements: [DiskMeasurement] = []
      sound { try measure(Self.rows, Self.effort, at: scene.site) { measurements.append($0) } }
      return measurements
    }

    #expect(measurements.map(\.name).sorted() == Self.rows.map(\.name).sorted())
    #expect(measurements.filter { !$0.isSumRight }.map(\.name) == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: scene.site.path) == [])
  }

  @Test(arguments: DiskRow.Operation.allCases)
  func `a shelf that keeps a wrong value, or one too many, is found out`(
    operation: DiskRow.Operation
  ) throws {
    let scene = try SiteScene()
    let goods = Goods(size: 10, count: 5)

    #expect(isRight(StockedDisk<FileEachShelf>(goods, at: scene.site).task(operation)))
    #expect(!isRight(StockedDisk<WrongShelf>(goods, at: scene.site).task(operation)))
  }

  @Test(arguments: DiskRow.Operation.allCases)
  func `a shelf that fails is found out, not taken for one that does its work`(
    operation: DiskRow.Operation
  ) throws {
    let scene = try SiteScene()

    let stocked = StockedDisk<BrokenShelf>(Goods(size: 10, count: 5), at: scene.site)

    #expect(!isRight(stocked.task(operation)))
  }

  @Test func `a folder that can't be made is told by name`() {
    let error = #expect(throws: FileTrouble.self) { try Site(in: "/dev/null/none") }

    #expect(error?.description.contains("/dev/null/none") == true)
  }

  private func isRight(_ task: DiskTask) -> Bool {
    var timing = Timing(task.timed, task.count)
    timing.repeatOnce()
    task.end()
    return timing.isSumRight
  }
}

/// A shelf that stores one value in place of another, and fails to remove one.
private struct WrongShelf: DiskShelf {
  init(folder: String) {}
  func renew() {}
  func put(_ goods: Goods) {}
  func get(_ goods: Goods) -> Int { goods.sum - goods.values[0].glance + goods.values[1].glance }
  func contains(_ goods: Goods) -> Int { goods.keys.count - 1 }
  func remove(_ goods: Goods) {}
  func count() -> Int { 1 }
  func close() {}
}

/// A shelf that can only be opened and closed.
private struct BrokenShelf: DiskShelf {
  private static let trouble = FileTrouble(path: "broken", reason: "on purpose")

  init(folder: String) {}
  func renew() {}
  func put(_ goods: Goods) throws { throw Self.trouble }
  func get(_ goods: Goods) throws -> Int { throw Self.trouble }
  func contains(_ goods: Goods) throws -> Int { throw Self.trouble }
  func remove(_ goods: Goods) throws { throw Self.trouble }
  func count() throws -> Int { throw Self.trouble }
  func close() {}
}
