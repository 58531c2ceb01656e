import Foundation
import TestTraits
import Testing

@testable import MillpondBench

@Suite(.heavy) struct DiskContenderTests {
  private let dataset = DiskDataset(size: 10, count: 5)
  private let scene: WorkFolderScene

  init() throws {
    scene = try WorkFolderScene()
  }

  @Test(arguments: [DiskOperation.put, .get, .contains, .remove])
  func `a contender that keeps a wrong value, or one too many, is detected`(
    operation: DiskOperation
  ) throws {
    #expect(try isRight(operation, MillpondDisk.self))
    #expect(try isRight(operation, FilePerValue.self))
    #expect(try !isRight(operation, WrongContender.self))
  }

  @Test func `what is only stored and read is right too`() throws {
    #expect(try isRight(.put, SingleFile.self) && isRight(.get, SingleFile.self))
    #expect(try isRight(.put, FoundationFiles.self))
  }

  @Test func `a folder that can't be made is reported with its name`() {
    let error = #expect(throws: (any Error).self) { try WorkFolder(in: "/dev/null/none") }

    #expect(error.map { "\($0)".contains("/dev/null/none") } == true)
  }

  private func isRight<Contender: DiskContender>(
    _ operation: DiskOperation, _: Contender.Type
  ) throws -> Bool {
    var sample = Sample(name: "", summary: "", unit: "")
    let work = Work.disk(operation, Contender.self, dataset, scene.workFolder)
    try sample.measure([work], 5, repetitions: 2)
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
  func contains(_ dataset: DiskDataset) -> Int { 1 }
  func remove(_ dataset: DiskDataset) {}
}
