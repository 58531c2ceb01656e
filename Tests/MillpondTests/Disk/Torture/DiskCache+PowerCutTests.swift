import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import Millpond

/// Power cuts, replayed on what was written down of a run: pages and names that were not synchronized are
/// lost in any combination, some of them by half.
@Suite(.timeLimit(.minutes(10)), .heavy) struct DiskCachePowerCutTests {
  static let seeds = Array(0..<Torture.rounds(24, few: 3))

  @Test(arguments: seeds)
  func `after a power cut every flushed value is there, or what was written over it`(
    seed: Int
  ) async throws {
    let run = try PowerCutRun(seed: seed)
    try await run.run(300)
    #expect(run.bytesCopied > 0)

    try await run.cut(Torture.rounds(100, few: 20), seed: seed)

    #expect(run.complaints == [])
  }

  /// A power cut takes the record of a removal, of which the checkpoint still knows.
  @Test func `what was removed stays removed after the first flush, whatever is lost then`()
    async throws
  {
    let scene = DiskScene()
    try scene.makeFolder()
    let calls = VolumeCalls()
    let first = scene.open(2 << 20, calls)
    try await first.set(Data(repeating: 1, count: 1_500), for: "removed").value
    try await first.set(Data(repeating: 2, count: 12_000), for: "other").value
    let end = try #require(calls.logSize)
    try await first.remove("removed").value
    try await first.close().value
    try calls.clearLog(from: end)
    try calls.synchronizeAll()

    let second = scene.open(2 << 20, calls)
    #expect(try await second.get("removed").valueIfAny == nil)
    try await second.set(Data("new"), for: "new").value
    try await second.flush(.synchronized).value
    let flushed = calls.volume
    try await second.close().value

    for seed in 0..<50 {
      var random = SeededNumbers(seed)
      let third = scene.open(2 << 20, VolumeCalls(flushed.afterPowerCut(&random)))
      #expect(try await third.get("removed").valueIfAny == nil)
      #expect(try await third.get("new").valueIfAny == Data("new"))
      try await third.close().value
    }
  }
}

extension VolumeCalls {
  /// The path of the first segment.
  private var logPath: String? {
    try? namesInFolder("").filter { $0.hasSuffix(FileName.segmentSuffix) }.min()
  }

  /// The size of the first segment.
  fileprivate var logSize: Int? {
    logPath.flatMap { try? status($0).size }
  }

  /// Overwrites the first segment with zeros, as if its pages had never got to the device.
  fileprivate func clearLog(from start: Int) throws {
    let path = try #require(logPath)
    let (file, size) = (try open(path, .updating), try status(path).size)
    let zeros = [UInt8](repeating: 0, count: size - start)
    try zeros.withUnsafeBytes { _ = try write(file, $0, at: start) }
    try close(file)
  }

  /// Brings everything to the device.
  fileprivate func synchronizeAll() throws {
    for name in try namesInFolder("") {
      let file = try open(name, .reading)
      try synchronize(file)
      try close(file)
    }
    try synchronize(try open("", .folder))
  }
}
