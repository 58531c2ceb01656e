import Foundation
import MillpondCore
import TestTraits
import Testing

@testable import Millpond

/// Bytes that differ from those written.
@Suite(.timeLimit(.minutes(10)), .heavy) struct DiskCacheDamageTests {
  let scene = DiskScene()

  /// Returns a log with b in front of a and c behind it, without a checkpoint.
  private func makeLog() async throws -> (log: URL, bytes: Data, a: Range<Int>) {
    try await scene.fillAndDie { cache in
      for key in ["b", "a", "c"] { cache.set(Data("<\(key)>"), for: key) }
    }
    let log = try #require(scene.segments.first)
    let bytes = try Data(contentsOf: log)
    let size = bytes.count / 3
    return (log, bytes, size..<2 * size)
  }

  /// Opens the log with these bytes, of which a's record is damaged.
  private func expectOnlyAMissed(_ log: URL, _ bytes: Data, _ place: String) async throws {
    for name in scene.names { try FileManager.default.removeItem(at: scene.url(name)) }
    try bytes.write(to: log)
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(1), calls)
    #expect(try await cache.get("a").valueIfAny == nil, "\(place)")
    for key in ["b", "c"] {
      #expect(try await cache.get(key).valueIfAny == Data("<\(key)>"), "\(place)")
    }
    #expect(try await cache.count.value == 2, "\(place)")
    #expect(await cache.openStatistics().damages == 1, "\(place)")
    try await cache.set(Data("new"), for: "a").value
    #expect(try await cache.get("a").value == Data("new"), "\(place)")
    calls.die()
    try await cache.close().value
  }

  @Test func `a flipped bit anywhere in a record makes that record a miss, and no other`()
    async throws
  {
    let (log, bytes, a) = try await makeLog()

    // A bit of every other byte, and not always the same one: a folder is opened for each.
    for bit in stride(from: a.lowerBound * 8, to: a.upperBound * 8, by: Effort.stride(19)) {
      var flipped = bytes
      flipped.flip(bit: bit)
      try await expectOnlyAMissed(log, flipped, "bit \(bit)")
    }
  }

  @Test func `a log that is cut anywhere keeps its whole records`() async throws {
    let (log, bytes, a) = try await makeLog()

    for count in stride(from: 0, to: bytes.count, by: 3) {
      for name in scene.names { try FileManager.default.removeItem(at: scene.url(name)) }
      try bytes.prefix(count).write(to: log)
      try await scene.fillAndDie { $0.set(Data("new"), for: "d") }
      let cache = scene.open()
      #expect(try await cache.get("d").value == Data("new"))
      #expect(try await cache.get("b").valueIfAny == (count >= a.lowerBound ? Data("<b>") : nil))
      #expect(try await cache.get("a").valueIfAny == (count >= a.upperBound ? Data("<a>") : nil))
      #expect(try await cache.get("c").valueIfAny == nil)
      try await cache.close().value
    }
  }

  @Test(arguments: [10, 30_000, 100_000])
  func `a value that is damaged while the cache is open is a miss, and is dropped`(
    count: Int
  ) async throws {
    let cache = scene.open()
    let value = Data(repeating: 7, count: count)
    try await cache.set(value, for: "a").value
    try await cache.set(Data("b"), for: "b").value
    let file = try #require(scene.valueFiles.first ?? scene.segments.first)
    let place = try #require(try Data(contentsOf: file).range(of: value)?.upperBound)
    try scene.change(file) { $0[place - 1] ^= 1 }

    #expect(try await cache.get("a").valueIfAny == nil)

    #expect(try await cache.get("b").value == Data("b"))
    #expect(try await cache.count.value == 1)
    #expect(await cache.openStatistics().damages == 1)
    try await cache.close().value
    #expect(try await scene.open().get("a").valueIfAny == nil)
    #expect(scene.valueFiles == [])
  }

  @Test(arguments: [10, 100_000])
  func `an older value does not reappear in place of a damaged one`(
    count: Int
  ) async throws {
    let value = Data(repeating: 7, count: count)
    try await scene.fillAndDie { cache in
      cache.set(Data("old"), for: "a")
    }
    try await scene.fillAndDie { cache in
      cache.set(value, for: "a")
    }
    let file = try #require(scene.valueFiles.first ?? scene.segments.first)
    let place = try #require(try Data(contentsOf: file).range(of: value)?.upperBound)
    try scene.change(file) { $0[place - 1] ^= 1 }

    try await scene.fillAndDie { cache in
      cache.get("a").subscribe()
      cache.set(Data("b"), for: "b")
    }

    #expect(try await scene.open().get("a").valueIfAny == nil)
  }

  @Test(arguments: [0, 1, 99_999, 100_001])
  func `a large value whose file has another size is a miss`(size: Int) async throws {
    try await scene.fill { $0.set(Data(count: 100_000), for: "a") }
    let file = try #require(scene.valueFiles.first)
    try Data(count: size).write(to: file)

    let cache = scene.open()
    #expect(try await cache.get("a").valueIfAny == nil)
    try await cache.flush().value

    #expect(try await cache.count.value == 0)
    #expect(scene.valueFiles == [])
  }

  @Test func `a value whose file was removed is a miss after the opening`() async throws {
    try await scene.fill { $0.set(Data(count: 100_000), for: "a") }
    try FileManager.default.removeItem(at: try #require(scene.valueFiles.first))

    #expect(try await scene.open().count.value == 0)
  }

  @Test func `a folder of empty files is an empty store`() async throws {
    try await scene.fill { cache in
      cache.set(Data("x"), for: "a")
      cache.set(Data(count: 100_000), for: "b")
    }
    for name in scene.names { try Data().write(to: scene.url(name)) }

    let cache = scene.open()
    #expect(try await cache.get("a").valueIfAny == nil)
    #expect(try await cache.get("b").valueIfAny == nil)
    try await cache.set(Data("new"), for: "a").value
    #expect(try await cache.get("a").value == Data("new"))
  }

  @Test(arguments: [12, 16, 20, 24], [UInt32.max, 1 << 31, 1 << 20])
  func `a record with a wrong length and a right checksum is skipped`(
    offset: Int, length: UInt32
  ) async throws {
    let good = RecordBytes.make(key: "b", segment: 1)
    var bad = RecordBytes.make(key: "a", segment: 1)
    RecordBytes.put(UInt64(length), 4, &bad, offset)
    RecordBytes.seal(&bad, segment: 1)
    try scene.makeFolder()
    try Data(good + bad + RecordBytes.make(key: "c", segment: 1)).write(to: scene.url(.segment(1)))

    let cache = scene.open()
    #expect(try await cache.get("a").valueIfAny == nil)
    #expect(try await cache.get("b").value == Data("value"))
    #expect(try await cache.get("c").value == Data("value"))
  }

  /// Makes a folder of another version, with a large value.
  private func makeFolder(version: UInt8) async throws {
    try await scene.fill { cache in
      cache.set(Data("small"), for: "a")
      cache.set(Data(count: 100_000), for: "b")
    }
    for log in scene.segments {
      guard case .segment(let segment)? = FileName(log.lastPathComponent) else { continue }
      try scene.change(log) { bytes in
        var record = [UInt8](bytes)
        record[4] = version
        RecordBytes.seal(&record, segment: UInt32(segment))
        bytes = Data(record)
      }
    }
    for name in [FileName.indexName, FileName.syncMarkName] where scene.exists(scene.url(name)) {
      try scene.change(scene.url(name)) { $0[4] = version }
    }
  }

  @Test(arguments: [1, 2, RecordHead.version - 1])
  func `a folder of an older version is emptied, and the statistics say so`(version: UInt8)
    async throws
  {
    try await makeFolder(version: version)

    let cache = scene.open()
    #expect(try await cache.count.value == 0)
    #expect(await cache.openStatistics().outdatedFiles == 1)
    #expect(cache.statistics.damages == 0)
    for key in ["a", "b"] { #expect(try await cache.get(key).valueIfAny == nil) }
    try await cache.set(Data("new"), for: "a").value
    try await cache.close().value

    #expect(scene.valueFiles == [])
    #expect(try scene.log().range(of: Data("small")) == nil)
    let again = scene.open()
    #expect(try await again.get("a").value == Data("new"))
    #expect(await again.openStatistics().outdatedFiles == 0)
    try await again.close().value
  }

  @Test(arguments: [RecordHead.version + 1, .max])
  func `a folder of a newer version is refused, and stays as it is`(version: UInt8) async throws {
    try await makeFolder(version: version)
    let before = try scene.names.map { try Data(contentsOf: scene.url($0)) }

    let cache = scene.open()
    let failure = try await failure(of: cache.get("a"))
    try await cache.close().value

    guard case .newerFormat(let folder, Int(version), Int(RecordHead.version))? = failure?.diskError
    else {
      Issue.record("\(failure as Any)")
      return
    }
    #expect(URL(filePath: folder).lastPathComponent == scene.folder.lastPathComponent)
    let after = try scene.names.map { try Data(contentsOf: scene.url($0)) }
    #expect(after == before)
  }

  @Test func `a good log that we did not write is read`() async throws {
    try scene.makeFolder()
    for number: UInt32 in [3, 9] {
      let bytes = RecordBytes.make(key: "\(number)", segment: number)
      try Data(bytes).write(to: scene.url(.segment(UInt64(number))))
    }

    let cache = scene.open()
    for key in ["3", "9"] { #expect(try await cache.get(key).value == Data("value")) }
  }
}
