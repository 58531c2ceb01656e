import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(1))) struct DiskCacheFaultsTests {
  let scene = DiskScene()

  /// Puts other bytes in the place of a's file, which a cache of them is opened for.
  private func reopen(with contents: Data) throws -> DiskCache {
    try scene.makeFolder()
    try contents.write(to: scene.file("a"))
    return scene.open()
  }

  private func record(_ key: String = "a", bornAt: WallTime = .now) -> Record {
    Record(key: key, value: Data("value"), bornAt: bornAt)
  }

  /// Whether a is a miss, and nothing is left of it.
  private func isDropped(by cache: DiskCache) async throws -> Bool {
    guard try await cache.get("a").valueIfAny == nil else { return false }
    try await cache.flush().value
    let count = try await cache.count.value
    return count == 0 && !scene.exists("a")
  }

  // MARK: - What can't be done

  @Test func `D2 a set whose file can't be put in place fails, and leaves nothing`() async throws {
    try FileManager.default.createDirectory(
      at: scene.file("a").appendingPathComponent("inside"), withIntermediateDirectories: true)
    let cache = scene.open()

    let error = try await failure(of: cache.set(Data("x"), for: "a"))

    #expect(error?.systemError != nil)
    #expect(try await cache.get("a").valueIfAny == nil)
    #expect(scene.names == [EntryName(of: "a").fileName])
    #expect(try await cache.totalBytes.value == 0)
  }

  @Test(.disabled(if: TestPlatform.isRoot, "root may write everywhere"))
  func `D3 in a folder that can only be read gets work and sets fail`() async throws {
    try await scene.fill { cache in
      for key in ["a", "b"] { cache.set(Data("old"), for: key) }
    }
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o500], ofItemAtPath: scene.folder.path)
    let cache = scene.open()

    let error = try await failure(of: cache.set(Data("new"), for: "a"))

    #expect(error?.systemError == .EACCES)
    #expect(try await cache.get("a").valueIfAny == nil)
    #expect(try await cache.get("b").value == Data("old"))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o700], ofItemAtPath: scene.folder.path)
  }

  @Test(.disabled(if: TestPlatform.isRoot, "root may write everywhere"))
  func `D4 a folder that can't be made is an error`() async throws {
    try scene.makeFolder()
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o500], ofItemAtPath: scene.folder.path)
    let cache = DiskCache(
      directory: scene.folder.appendingPathComponent("inside"), byteLimit: 1_000)

    #expect(try await failure(of: cache.get("a"))?.systemError == .EACCES)
    #expect(try await failure(of: cache.set(Data(), for: "a"))?.systemError == .EACCES)
  }

  @Test func `D18 a folder that was deleted is made anew by the next set`() async throws {
    let cache = scene.open()
    try await cache.set(Data("old"), for: "a").value
    try FileManager.default.removeItem(at: scene.folder)

    #expect(try await cache.get("a").valueIfAny == nil)
    for number in 0..<20 { cache.set(Data("new"), for: "\(number)") }
    try await cache.flush().value

    #expect(scene.names.count == 20)
    #expect(try await cache.get("7").value == Data("new"))
    #expect(TestPlatform.lock(scene.folder.appendingPathComponent(Folder.lockName).path) == nil)
  }

  @Test func `D18 D21 a folder that another process made anew is not touched`() async throws {
    let cache = scene.open()
    for key in ["a", "b"] { try await cache.set(Data("old"), for: key).value }
    try FileManager.default.removeItem(at: scene.folder)
    try scene.makeFolder()
    let lock = try #require(
      TestPlatform.lock(scene.folder.appendingPathComponent(Folder.lockName).path))
    defer { TestPlatform.unlock(lock) }
    try Data("theirs").write(to: scene.file("a"))

    #expect(try await failure(of: cache.set(Data("new"), for: "a"))?.isInUse == true)
    try await cache.removeAll().value

    #expect(try Data(contentsOf: scene.file("a")) == Data("theirs"))
    #expect(try await cache.get("a").valueIfAny == nil)
  }

  @Test func `D18 a folder that was moved away is made anew by the next set`() async throws {
    let cache = scene.open()
    try await cache.set(Data("old"), for: "a").value
    let other = DiskScene()
    try FileManager.default.moveItem(at: scene.folder, to: other.folder)

    try await cache.set(Data("new"), for: "b").value

    #expect(try await cache.get("a").valueIfAny == nil)
    #expect(try await cache.get("b").value == Data("new"))
  }

  @Test func `D19 a folder that is a file is an error of every operation`() async throws {
    try Data("mine").write(to: scene.folder)
    let cache = scene.open()

    #expect(try await failure(of: cache.get("a"))?.systemError == .ENOTDIR)
    #expect(try await failure(of: cache.set(Data(), for: "a"))?.systemError == .ENOTDIR)
    #expect(try await failure(of: cache.remove("a"))?.systemError == .ENOTDIR)
    #expect(try await failure(of: cache.removeAll())?.systemError == .ENOTDIR)
    #expect(try await failure(of: cache.flush())?.systemError == .ENOTDIR)
    #expect(try await failure(of: cache.count)?.systemError == .ENOTDIR)
    #expect(try Data(contentsOf: scene.folder) == Data("mine"))
  }

  @Test(arguments: ["https://example.org/tmp/millpond-never", "file:///tmp/a%00b"])
  func `a folder that is none is an error`(address: String) async throws {
    let cache = DiskCache(directory: try #require(URL(string: address)), byteLimit: 1_000)

    #expect(try await failure(of: cache.get("a"))?.systemError == .EINVAL)
  }

  @Test func `D21 another process's folder is an error of every operation`() async throws {
    try scene.makeFolder()
    try record().fileContents.write(to: scene.file("a"))
    let stray = scene.folder.appendingPathComponent(EntryName.temporaryFileName(1))
    try Data("half").write(to: stray)
    let lock = try #require(
      TestPlatform.lock(scene.folder.appendingPathComponent(Folder.lockName).path))

    let cache = scene.open()
    #expect(try await failure(of: cache.get("a"))?.isInUse == true)
    #expect(try await failure(of: cache.set(Data(), for: "a"))?.isInUse == true)
    #expect(try await failure(of: cache.removeAll())?.isInUse == true)
    #expect(FileManager.default.fileExists(atPath: stray.path))

    TestPlatform.unlock(lock)
    #expect(try await scene.open().get("a").value == Data("value"))
  }

  // MARK: - Damage

  @Test func `a good file that we did not write is read`() async throws {
    let cache = try reopen(with: record().fileContents)

    #expect(try await cache.get("a").value == Data("value"))
  }

  @Test func `D7 a file that was never really written is a miss`() async throws {
    let size = record().size

    #expect(try await isDropped(by: reopen(with: Data(count: size))))
  }

  @Test func `D8 a file that is cut at any length is a miss`() async throws {
    let file = record().fileContents

    for length in 0..<file.count {
      #expect(try await isDropped(by: reopen(with: file.prefix(length))))
    }
  }

  @Test func `D8 a file that is cut or grows while the cache is open is a miss`() async throws {
    let cache = scene.open()

    for change in [Data(), Data(count: 1_000)] {
      try await cache.set(Data("x"), for: "a").value
      try change.write(to: scene.file("a"))
      #expect(try await isDropped(by: cache))
    }
  }

  @Test func `D9 any flipped bit is a miss`() async throws {
    let cache = scene.open()
    try await cache.set(Data("value"), for: "a").value
    let file = try Data(contentsOf: scene.file("a"))

    for bit in 0..<file.count * 8 {
      try await cache.set(Data("value"), for: "a").value
      var flipped = file
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      try flipped.write(to: scene.file("a"))
      #expect(try await isDropped(by: cache))
    }
  }

  @Test func `D10 an empty file is a miss`() async throws {
    #expect(try await isDropped(by: reopen(with: Data())))
  }

  @Test(arguments: [16, 24, 32, 40])
  func `D11 a length of 2 to the 63rd is a miss`(offset: Int) async throws {
    var file = record().fileContents
    file[offset + 7] = 0x80

    #expect(try await isDropped(by: reopen(with: file)))
  }

  @Test func `D12 a file of another version is a miss`() async throws {
    var front = record().front()
    front[4] = 2
    let sum = front.withUnsafeBytes { front in
      record().value.withUnsafeBytes { RecordHead.sum(front, $0) }
    }
    withUnsafeBytes(of: sum.littleEndian) { front.replaceSubrange(48..<56, with: $0) }

    #expect(try await isDropped(by: reopen(with: Data(front) + record().value)))
  }

  // MARK: - What is no file of ours

  @Test func `D13 a pipe in the place of an entry is a miss, and blocks nobody`() async throws {
    let cache = scene.open()
    try await cache.set(Data("x"), for: "a").value
    try FileManager.default.removeItem(at: scene.file("a"))
    try #require(TestPlatform.makePipe(scene.file("a").path))

    #expect(try await cache.get("a").valueIfAny == nil)
    #expect(try await cache.count.value == 0)
    #expect(scene.exists("a"))
  }

  @Test func `D13 a folder in the place of an entry is a miss`() async throws {
    let cache = scene.open()
    try await cache.set(Data("x"), for: "a").value
    try FileManager.default.removeItem(at: scene.file("a"))
    try FileManager.default.createDirectory(
      at: scene.file("a"), withIntermediateDirectories: false)

    #expect(try await cache.get("a").valueIfAny == nil)
    #expect(try await cache.count.value == 0)
    #expect(scene.exists("a"))
  }

  @Test func `D13 what is no file when the folder is opened is no entry`() async throws {
    try scene.makeFolder()
    try #require(TestPlatform.makePipe(scene.file("a").path))
    try FileManager.default.createDirectory(
      at: scene.file("b"), withIntermediateDirectories: false)

    #expect(try await scene.open().count.value == 0)
    #expect(scene.names.count == 2)
  }

  @Test(arguments: [true, false])
  func `D14 a link is not followed`(isThereAtOpening: Bool) async throws {
    let target = DiskScene().folder
    defer { try? FileManager.default.removeItem(at: target) }
    let contents = record().fileContents
    try contents.write(to: target)
    if !isThereAtOpening { try await scene.fill { $0.set(Data("value"), for: "a") } }
    let cache = isThereAtOpening ? nil : scene.open()
    try await cache?.flush().value
    try scene.makeFolder()
    try? FileManager.default.removeItem(at: scene.file("a"))
    try FileManager.default.createSymbolicLink(at: scene.file("a"), withDestinationURL: target)
    let asked = cache ?? scene.open()

    #expect(try await asked.get("a").valueIfAny == nil)
    try await asked.set(Data("new"), for: "a").value

    #expect(try await asked.get("a").value == Data("new"))
    #expect(try Data(contentsOf: target) == contents)
  }

  @Test func `D20 a foreign file is never removed`() async throws {
    let foreign = [
      ".millpond", "0123456789ABCDEF0123456789ABCDEF.millpond",
      "0123456789abcdef0123456789abcdef.data", "note.txt", "x.millpond-new",
    ]
    try scene.makeFolder()
    for name in foreign {
      try Data(count: 10_000).write(to: scene.folder.appendingPathComponent(name))
    }
    let cache = scene.open(1_000)
    for number in 0..<50 { cache.set(Data(count: 100), for: "\(number)") }
    #expect(try await cache.totalBytes.value <= 1_001)

    try await cache.removeAll().value
    try await cache.flush().value

    #expect(scene.names == foreign.sorted())
  }

  @Test func `D23 what was left unfinished is removed at the next opening`() async throws {
    try scene.makeFolder()
    let stray = EntryName.temporaryFileName(0xFEED)
    try Data("half").write(to: scene.folder.appendingPathComponent(stray))

    try await scene.fill { _ in }

    #expect(scene.names == [])
  }

  @Test func `D32 files are for their owner only, and so is a folder that is made`() async throws {
    try await scene.fill { $0.set(Data("x"), for: "a") }

    func permissions(_ url: URL) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }
    #expect(try permissions(scene.folder) == 0o700)
    #expect(try permissions(scene.file("a")) == 0o600)
    #expect(try permissions(scene.folder.appendingPathComponent(Folder.lockName)) == 0o600)
  }

  // MARK: - Keys and dates

  @Test func `D15 keys of any content and length are distinct, and in the folder`() async throws {
    let long = String(repeating: "x", count: 10 << 20)
    let keys = [
      "", ".", "..", "/", "../x", "../../x", "a/b", "\u{0}", "a\u{0}", "a", "A", "\u{E9}",
      "e\u{301}", "CON", "a\nb", String(repeating: "é", count: 300), long, long + "x",
    ]
    try await scene.fill { cache in
      for (index, key) in keys.enumerated() { cache.set(Data("\(index)"), for: key) }
    }

    let cache = scene.open()
    for (index, key) in keys.enumerated() {
      #expect(try await cache.get(key).valueIfAny == Data("\(index)"))
    }
    #expect(scene.names.count == keys.count)
    #expect(try await cache.count.value == keys.count)
  }

  @Test func `D17 the value of another key of the same name is a miss, and is kept`() async throws {
    let cache = try reopen(with: record("b").fileContents)

    #expect(try await cache.get("a").valueIfAny == nil)
    #expect(try await cache.get("b").valueIfAny == nil)
    #expect(scene.exists("a"))

    try await cache.set(Data("new"), for: "a").value
    #expect(try await cache.get("a").value == Data("new"))
  }

  @Test(arguments: [Int64.max, .min, 4_000_000_000_000_000])
  func `D25 a value from the future is there, and very old`(microseconds: Int64) async throws {
    let bornAt = WallTime(microseconds: microseconds)
    let cache = try reopen(with: record(bornAt: bornAt).fileContents)

    #expect(try await cache.getStamped("a", Lookup()).value.age == WallTime.greatestAge)
    #expect(try await cache.get("a", freshness: .atMost(.seconds(1 << 31))).valueIfAny == nil)
  }

  @Test func `D25 files from 1970 and from the future are put in order`() async throws {
    let size = record().size
    try await scene.fill { cache in
      for key in ["a", "b", "c"] { cache.set(Data("value"), for: key) }
    }
    for (key, time) in [("a", 9_000_000_000), ("b", 0), ("c", 1_700_000_000)] {
      try scene.use(key, at: TimeInterval(time))
    }

    let cache = scene.open(2 * size)
    #expect(try await cache.count.value == 2)
    #expect(scene.exists("c") && scene.exists("a"))
    _ = try await cache.get("a").value

    // A time in the future is set right by a use, so it does not keep its file for ever.
    let usedAt = try scene.file("a").resourceValues(forKeys: [.contentModificationDateKey])
      .contentModificationDate
    #expect(try #require(usedAt) <= Date())
  }

  // MARK: - Codecs

  private struct Trouble: Error {}

  @Test func `D29 what can't be encoded leaves the old value`() async throws {
    let disk = scene.open()
    let numbers = disk.mapValues(
      Codec<Data, Int>(
        encode: { number in
          if number < 0 { throw Trouble() }
          return Data("\(number)")
        }, decode: { _ in 0 }))
    try await numbers.set(1, for: "a").value

    await #expect(throws: Trouble.self) { try await numbers.set(-1, for: "a").value }

    #expect(try await disk.get("a").value == Data("1"))
  }

  @Test func `D29 what can't be decoded is a miss, and the next layer is asked`() async throws {
    let disk = scene.open()
    try await disk.set(Data("garbage"), for: "a").value
    let numbers = disk.mapValues(
      Codec<Data, Int>(encode: { Data("\($0)") }, decode: { _ in throw Trouble() }))
    let origin = MemoryCache<String, Int>(countLimit: 1)
    origin.set(7, for: "a")

    #expect(try await numbers.layered(over: origin).get("a").value == 7)
  }
}
