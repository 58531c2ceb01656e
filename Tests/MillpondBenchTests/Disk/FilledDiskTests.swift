import Foundation
import TestTraits
import Testing

@testable import MillpondBench

@Suite(.heavy) struct FilledDiskTests {
  private let dataset = DiskDataset(size: 10, count: 5)

  @Test(arguments: [DiskOperation.put, .get, .contains, .remove])
  func `a contender that keeps a wrong value, or one too many, is detected`(
    operation: DiskOperation
  ) throws {
    let scene = try WorkFolderScene()

    #expect(try isRight(FilledDisk<FilePerValue>(dataset, scene.workFolder).work(operation)))
    #expect(try !isRight(FilledDisk<WrongContender>(dataset, scene.workFolder).work(operation)))
  }

  @Test(arguments: [DiskOperation.put, .get, .contains, .remove])
  func `a contender that fails is not measured`(operation: DiskOperation) throws {
    let scene = try WorkFolderScene()

    #expect(throws: FileTrouble.self) {
      try isRight(FilledDisk<BrokenContender>(dataset, scene.workFolder).work(operation))
    }
  }

  @Test func `one file of values is read as it was written`() throws {
    let scene = try WorkFolderScene()

    #expect(try isRight(FilledDisk<SingleFile>(dataset, scene.workFolder).work(.put)))
    #expect(try isRight(FilledDisk<FoundationFiles>(dataset, scene.workFolder).work(.put)))
  }

  @Test func `a folder that can't be made is reported with its name`() {
    let error = #expect(throws: FileTrouble.self) { try WorkFolder(in: "/dev/null/none") }

    #expect(error?.description.contains("/dev/null/none") == true)
  }

  private func isRight(_ work: (work: Work, operations: Int)) throws -> Bool {
    var sample = Sample(name: "", summary: "", unit: "")
    try sample.measure([work], repetitions: 2)
    return sample.isSumRight
  }
}

/// A contender that stores one value in place of another, and fails to remove one.
private struct WrongContender: DiskContender {
  static let name = "wrong"

  init(folder: String) {}
  func put(_ dataset: DiskDataset) {}
  func get(_ dataset: DiskDataset) -> Int {
    dataset.sum - dataset.values[0].glance + dataset.values[1].glance
  }
  func contains(_ dataset: DiskDataset) -> Int { dataset.keys.count - 1 }
  func remove(_ dataset: DiskDataset) {}
  func count() -> Int { 1 }
}

/// A contender that can only be opened and closed.
private struct BrokenContender: DiskContender {
  static let name = "broken"

  private static let trouble = FileTrouble(path: "broken", reason: "on purpose")

  init(folder: String) {}
  func put(_ dataset: DiskDataset) throws { throw Self.trouble }
  func get(_ dataset: DiskDataset) throws -> Int { throw Self.trouble }
  func contains(_ dataset: DiskDataset) throws -> Int { throw Self.trouble }
  func remove(_ dataset: DiskDataset) throws { throw Self.trouble }
  func count() throws -> Int { throw Self.trouble }
}
