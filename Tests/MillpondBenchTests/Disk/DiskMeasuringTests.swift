import Foundation
import MillpondSignals
import TestTraits
import Testing

@testable import MillpondBench

@Suite(.heavy) struct DiskMeasuringTests {
  private static let effort = DiskEffort(repetitions: 2, share: 5_000, fileLimit: 3)

  private static let rows = DiskRow.all.filter { $0.subject.size?.isSmall ?? true }

  @Test func `the sums of all rows are right, and nothing is left in the folder`() async throws {
    let scene = try WorkFolderScene()

    let measurements = await onThread {
      var measurements: [DiskMeasurement] = []
      sound {
        try measure(Self.rows, Self.effort, at: scene.workFolder) { measurements.append($0) }
      }
      return measurements
    }

    #expect(measurements.map(\.name).sorted() == Self.rows.map(\.name).sorted())
    #expect(measurements.filter { !$0.isSumRight }.map(\.name) == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: scene.workFolder.path) == [])
  }

  @Test(arguments: DiskRow.Operation.allCases)
  func `a contender that keeps a wrong value, or one too many, is detected`(
    operation: DiskRow.Operation
  ) throws {
    let scene = try WorkFolderScene()
    let dataset = DiskDataset(size: 10, count: 5)

    #expect(isRight(FilledDisk<FilePerValue>(dataset, at: scene.workFolder).task(operation)))
    #expect(!isRight(FilledDisk<WrongContender>(dataset, at: scene.workFolder).task(operation)))
  }

  @Test(arguments: DiskRow.Operation.allCases)
  func `a contender that fails is detected, and not measured`(
    operation: DiskRow.Operation
  ) throws {
    let scene = try WorkFolderScene()

    let filled = FilledDisk<BrokenContender>(DiskDataset(size: 10, count: 5), at: scene.workFolder)

    #expect(!isRight(filled.task(operation)))
  }

  @Test func `a folder that can't be made is reported with its name`() {
    let error = #expect(throws: FileTrouble.self) { try WorkFolder(in: "/dev/null/none") }

    #expect(error?.description.contains("/dev/null/none") == true)
  }

  private func isRight(_ task: DiskTask) -> Bool {
    var timing = Timing(task.timed, task.count)
    timing.repeatOnce()
    task.end()
    return timing.isSumRight
  }
}

/// A contender that stores one value in place of another, and fails to remove one.
private struct WrongContender: DiskContender {
  init(folder: String) {}
  func renew() {}
  func put(_ dataset: DiskDataset) {}
  func get(_ dataset: DiskDataset) -> Int {
    dataset.sum - dataset.values[0].glance + dataset.values[1].glance
  }
  func contains(_ dataset: DiskDataset) -> Int { dataset.keys.count - 1 }
  func remove(_ dataset: DiskDataset) {}
  func count() -> Int { 1 }
  func close() {}
}

/// A contender that can only be opened and closed.
private struct BrokenContender: DiskContender {
  private static let trouble = FileTrouble(path: "broken", reason: "on purpose")

  init(folder: String) {}
  func renew() {}
  func put(_ dataset: DiskDataset) throws { throw Self.trouble }
  func get(_ dataset: DiskDataset) throws -> Int { throw Self.trouble }
  func contains(_ dataset: DiskDataset) throws -> Int { throw Self.trouble }
  func remove(_ dataset: DiskDataset) throws { throw Self.trouble }
  func count() throws -> Int { throw Self.trouble }
  func close() {}
}
