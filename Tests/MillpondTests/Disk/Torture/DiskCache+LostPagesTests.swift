import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Single power cuts, each at the worst moment for one rule.
@Suite struct DiskCacheLostPagesTests {
  let scene = DiskScene()

  init() throws { try scene.makeFolder() }

  private func open(_ calls: VolumeCalls) -> DiskCache { scene.open(2 << 20, calls) }

  /// Opens the remains of a volume after many power cuts.
  private func check(_ volume: Volume, _ look: (DiskCache) async throws -> Void) async throws {
    for seed in 0..<50 {
      var random = SeededNumbers(seed)
      let cache = open(VolumeCalls(volume.afterPowerCut(&random)))
      try await look(cache)
      try await cache.close().value
    }
  }

  /// Leaves a log without the record of a removal, of which the checkpoint still knows.
  ///
  /// - Parameter keepsSize: Whether the log is as long as it was, with zeros in that place.
  private func losingRemoval(keepsSize: Bool) async throws -> VolumeCalls {
    let calls = VolumeCalls()
    let cache = open(calls)
    try await cache.set(Data(repeating: 1, count: 1_500), for: "removed").value
    try await cache.set(Data(repeating: 2, count: 12_000), for: "other").value
    let end = try #require(calls.logSize)
    try await cache.remove("removed").value
    try await cache.close().value
    try calls.clearLog(from: end, keepsSize: keepsSize)
    try calls.synchronizeAll()
    return calls
  }

  @Test(arguments: [true, false])
  func `a removed value stays removed after the first flush`(keepsSize: Bool) async throws {
    let calls = try await losingRemoval(keepsSize: keepsSize)
    let cache = open(calls)
    #expect(try await cache.get("removed").valueIfAny == nil)
    try await cache.set(Data("new"), for: "new").value
    try await cache.flush(.synchronized).value
    let flushed = calls.volume
    try await cache.close().value

    try await check(flushed) { cache in
      let removed = try await cache.get("removed").valueIfAny
      let new = try await cache.get("new").valueIfAny
      #expect(removed == nil)
      #expect(new == Data("new"))
    }
  }

  @Test(arguments: [true, false])
  func `a removed value stays removed after a flush without a write`(
    keepsSize: Bool
  ) async throws {
    let calls = try await losingRemoval(keepsSize: keepsSize)
    let cache = open(calls)
    #expect(try await cache.get("removed").valueIfAny == nil)
    try await cache.flush(.synchronized).value
    let flushed = calls.volume
    try await cache.close().value

    try await check(flushed) { cache in
      let value = try await cache.get("removed").valueIfAny
      #expect(value == nil)
    }
  }

  /// The next checkpoint, which loses pages, replaces the one with the removal.
  @Test func `a removed value stays removed after the next checkpoint`() async throws {
    let calls = try await losingRemoval(keepsSize: true)
    let cache = open(calls)
    try await cache.flush(.synchronized).value
    try await cache.set(Data(repeating: 3, count: 12_000), for: "new").value
    try await cache.close().value

    try await check(calls.volume) { cache in
      let value = try await cache.get("removed").valueIfAny
      #expect(value == nil)
    }
  }

  /// The mark has its name already, but no content.
  @Test func `a checkpoint that is not believed is not believed later either`() async throws {
    let calls = VolumeCalls()
    let first = open(calls)
    try await first.set(Data("older"), for: "key").value
    let end = try #require(calls.logSize)
    try await first.set(Data("newer"), for: "key").value
    try await first.close().value
    try calls.clearLog(from: end, keepsSize: false)
    _ = try calls.open(FileName.syncMark.text, .sharing)

    let second = open(calls)
    #expect(try await second.get("key").valueIfAny == Data("older"))
    try await second.set(Data(repeating: 1, count: 12_000), for: "other").value
    try await second.flush(.synchronized).value
    let flushed = calls.volume
    try await second.close().value

    let third = open(VolumeCalls(flushed))
    #expect(try await third.get("key").valueIfAny == Data("older"))
    try await third.close().value
  }

  /// The process is killed before the file of the former value is removed.
  @Test func `the file of a flushed value stays until what replaces it is on the device`()
    async throws
  {
    let values = (1...2).map { Data(repeating: UInt8($0), count: 270_000) }
    let calls = VolumeCalls()
    let first = open(calls)
    try await first.storing(.just(values[0]), for: "key").value
    try await first.flush(.synchronized).value
    let flushed = calls.changeCount
    try await first.storing(.just(values[1]), for: "key").value
    try await first.close().value

    let changes = calls.changes
    let removal = try #require(changes[flushed...].firstIndex { $0.isRemoval })
    let record = try #require(changes[..<removal].lastIndex { $0.isLogWrite(in: calls.volume) })
    var volume = Volume()
    for change in changes[...record] { volume.apply(change) }
    let killed = VolumeCalls(volume)
    let second = open(killed)
    #expect(try await second.get("key").valueIfAny == values[1])
    let opened = killed.volume
    try await second.close().value

    try await check(opened) { cache in
      let value = try await cache.get("key").valueIfAny
      #expect(values.contains { $0 == value })
    }
  }

  /// The process is killed when the record of the removal has been written.
  @Test
  func `a set that was called after a removal of everything outlives it, whichever came first`()
    async throws
  {
    let calls = VolumeCalls()
    let first = open(calls)
    try await first.set(Data("former"), for: "former").value
    let removal = Revision.next()
    try await first.set(Data("later"), for: "later").value
    try await first.set(Data(repeating: 1, count: 100_000), for: "large").value
    let written = calls.changeCount
    try await first.apply(.removeAll(removal)).value
    #expect(try await first.get("later").value == Data("later"))
    try await first.close().value

    let changes = calls.changes
    let record = try #require(changes[written...].firstIndex { $0.isLogWrite(in: calls.volume) })
    var volume = Volume()
    for change in changes[...record] { volume.apply(change) }
    let second = open(VolumeCalls(volume))
    #expect(try await second.get("later").valueIfAny == Data("later"))
    #expect(try await second.get("large").valueIfAny?.count == 100_000)
    #expect(try await second.get("former").valueIfAny == nil)
    try await second.close().value
  }
}

extension Volume.Change {
  fileprivate var isRemoval: Bool { if case .remove = self { true } else { false } }

  fileprivate func isLogWrite(in volume: Volume) -> Bool {
    guard case .write(let file, _, _) = self else { return false }
    return volume.names.contains { $0.value == file && $0.key.hasSuffix(FileName.segmentSuffix) }
  }
}

extension VolumeCalls {
  fileprivate var segmentNames: [String] {
    let names = try? namesInFolder("").filter { $0.hasSuffix(FileName.segmentSuffix) }
    return (names ?? []).sorted()
  }

  /// The size of the first segment.
  fileprivate var logSize: Int? { segmentNames.first.flatMap { try? status($0).size } }

  /// Loses the pages of the first segment from `start` on.
  fileprivate func clearLog(from start: Int, keepsSize: Bool) throws {
    let path = try #require(segmentNames.first)
    let (file, size) = (try open(path, .updating), try status(path).size)
    try truncate(file, to: start)
    if keepsSize { try truncate(file, to: size) }
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
