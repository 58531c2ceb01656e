import Foundation
import MillpondCore
import Testing

@testable import Millpond

/// Absent, occupied and invalid folders, and foreign files in them.
@Suite(.timeLimit(.minutes(3))) struct DiskCacheFolderTests {
  let scene = DiskScene()

  private var lockPath: String {
    scene.url(Folder.lockName).path
  }

  // MARK: - The folder

  @Test func `the next set makes a deleted folder again`() async throws {
    let cache = scene.open()
    for key in ["a", "b"] { try await cache.set(Data("old"), for: key).value }
    try await cache.set(Data(count: 70_000), for: "large").value
    try FileManager.default.removeItem(at: scene.folder)

    #expect(try await cache.get("large").valueIfAny == nil)
    for number in 0..<20 { cache.set(Data("new"), for: "\(number)") }
    try await cache.flush().value

    #expect(try await cache.get("a").valueIfAny == nil)
    #expect(try await cache.get("7").value == Data("new"))
    #expect(try await cache.count.value == 20)
    #expect(TestPlatform.lock(lockPath) == nil)
    try await cache.close().value
    #expect(try await scene.open().get("7").value == Data("new"))
  }

  @Test func `a folder that another process made again is not touched`() async throws {
    let cache = scene.open()
    for key in ["a", "b"] { try await cache.set(Data("old"), for: key).value }
    let name = try #require(scene.segments.first).lastPathComponent
    try FileManager.default.removeItem(at: scene.folder)
    try scene.makeFolder()
    let lock = try #require(TestPlatform.lock(lockPath))
    defer { TestPlatform.unlock(lock) }
    try Data("theirs").write(to: scene.url(name))

    #expect(try await failure(of: cache.set(Data("new"), for: "a"))?.isInUse == true)
    #expect(try await failure(of: cache.removeAll())?.isInUse == true)
    try await cache.close().value

    #expect(try Data(contentsOf: scene.url(name)) == Data("theirs"))
    #expect(scene.names == [name])
  }

  @Test func `the next set makes a folder again that was moved away`() async throws {
    let cache = scene.open()
    try await cache.set(Data("old"), for: "a").value
    let other = DiskScene()
    try FileManager.default.moveItem(at: scene.folder, to: other.folder)

    try await cache.set(Data("new"), for: "b").value

    #expect(try await cache.get("a").valueIfAny == nil)
    #expect(try await cache.get("b").value == Data("new"))
  }

  @Test func `a file in the place of the folder fails every operation`() async throws {
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
  func `a path that is not a folder is an error`(address: String) async throws {
    let cache = DiskCache(directory: try #require(URL(string: address)), byteLimit: 1_000)

    #expect(try await failure(of: cache.get("a"))?.systemError == .EINVAL)
  }

  @Test func `a folder in use by another process fails every operation`() async throws {
    try await scene.fill { $0.set(Data("value"), for: "a") }
    let stray = scene.url(.unfinished(1))
    try Data("half").write(to: stray)
    let lock = try #require(TestPlatform.lock(lockPath))

    let cache = scene.open()
    #expect(try await failure(of: cache.get("a"))?.isInUse == true)
    #expect(try await failure(of: cache.set(Data(), for: "a"))?.isInUse == true)
    #expect(try await failure(of: cache.removeAll())?.isInUse == true)
    #expect(scene.exists(stray))

    TestPlatform.unlock(lock)
    #expect(try await scene.open().get("a").value == Data("value"))
  }

  // MARK: - What is no file of ours

  private static let places: [FileName] = [.segment(1), .segment(2), .index, .value(7)]

  @Test(arguments: places, [true, false])
  func `a pipe or a folder in the place of a file counts as absent, and blocks nothing`(
    name: FileName, isPipe: Bool
  ) async throws {
    try scene.makeFolder()
    if isPipe {
      try #require(TestPlatform.makePipe(scene.url(name).path))
    } else {
      try FileManager.default.createDirectory(
        at: scene.url(name).appendingPathComponent("inside"), withIntermediateDirectories: true)
    }

    let cache = scene.open()
    #expect(try await cache.count.value == 0)
    try await cache.set(Data("x"), for: "a").value
    try await cache.set(Data(count: 70_000), for: "b").value
    try await cache.close().value

    let again = scene.open()
    #expect(try await again.get("a").value == Data("x"))
    #expect(try await again.get("b").value.count == 70_000)
    if !isPipe { #expect(scene.exists(scene.url(name))) }
  }

  @Test(arguments: [true, false])
  func `a pipe or a folder in the place of a large value's file is a miss`(
    isPipe: Bool
  ) async throws {
    let cache = scene.open()
    try await cache.set(Data(count: 70_000), for: "a").value
    let file = try #require(scene.valueFiles.first)
    try FileManager.default.removeItem(at: file)
    if isPipe {
      try #require(TestPlatform.makePipe(file.path))
    } else {
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    }

    #expect(try await cache.get("a").valueIfAny == nil)
    #expect(try await cache.count.value == 0)
  }

  @Test(arguments: places)
  func `a link in the place of a file is not followed`(name: FileName) async throws {
    let target = DiskScene()
    try target.makeFolder()
    let file = target.url("file")
    let bytes = Data(RecordBytes.make(key: "a", segment: 1))
    try bytes.write(to: file)
    try scene.makeFolder()
    try FileManager.default.createSymbolicLink(at: scene.url(name), withDestinationURL: file)

    let cache = scene.open()
    #expect(try await cache.get("a").valueIfAny == nil)
    try await cache.set(Data("new"), for: "a").value
    try await cache.close().value

    #expect(try Data(contentsOf: file) == bytes)
    #expect(try await scene.open().get("a").value == Data("new"))
  }

  @Test func `a link in the place of a large value's file is a miss`() async throws {
    let cache = scene.open()
    try await cache.set(Data(count: 70_000), for: "a").value
    let file = try #require(scene.valueFiles.first)
    let target = DiskScene()
    try FileManager.default.moveItem(at: file, to: target.folder)
    try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target.folder)

    #expect(try await cache.get("a").valueIfAny == nil)
    try await cache.flush().value

    #expect(try Data(contentsOf: target.folder).count == 70_000)
  }

  @Test func `a foreign file is never removed`() async throws {
    let foreign = [
      ".millpond-log", "0123456789ABCDEF.millpond-value", "0123456789abcdef.data", "note.txt",
      "x.millpond-new", "millpond.index.old",
    ]
    try scene.makeFolder()
    for name in foreign { try Data(count: 10_000).write(to: scene.url(name)) }
    let cache = scene.open(10_000)
    for number in 0..<200 { cache.set(Data(count: number * 10), for: "\(number)") }

    try await cache.removeAll().value
    try await cache.close().value

    #expect(Set(scene.names).isSuperset(of: foreign))
    for name in foreign { #expect(scene.size(of: scene.url(name)) == 10_000) }
  }

  @Test func `the next opening removes unfinished files and files that no record names`()
    async throws
  {
    try scene.makeFolder()
    for name in [FileName.unfinished(0xFEED), .value(0xFEED), .value(0)] {
      try Data("half").write(to: scene.url(name))
    }

    try await scene.fill { $0.set(Data(count: 70_000), for: "a") }

    #expect(scene.valueFiles.count == 1)
    #expect(scene.unfinishedFiles == [])
  }

  @Test func `opening a closed store takes a few calls, however much it holds`() async throws {
    try await scene.fill { cache in
      for number in 0..<5_000 { cache.set(Data(count: 100), for: "\(number)") }
    }
    let calls = FaultyCalls()

    #expect(try await scene.open(.mebibytes(64), calls).count.value == 5_000)

    #expect(calls.count(.read) <= 2)
    #expect(calls.count(.open) <= scene.segments.count + 2)
  }

  @Test func `files and a folder that the cache makes are accessible to their owner only`()
    async throws
  {
    try await scene.fill { cache in
      cache.set(Data("x"), for: "a")
      cache.set(Data(count: 70_000), for: "b")
    }

    func permissions(_ url: URL) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }
    #expect(try permissions(scene.folder) == 0o700)
    #expect(scene.names.count == 3)
    for name in scene.names + [Folder.lockName] {
      #expect(try permissions(scene.url(name)) == 0o600)
    }
  }

  @Test func `files that others may read or write are made private before they are written to`()
    async throws
  {
    try await scene.fill { $0.set(Data("x"), for: "a") }
    let planted = [Folder.lockName] + scene.segments.map(\.lastPathComponent)
    for name in planted {
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o666], ofItemAtPath: scene.url(name).path)
    }

    try await scene.fill { $0.set(Data("y"), for: "b") }

    for name in planted {
      let attributes = try FileManager.default.attributesOfItem(atPath: scene.url(name).path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test(arguments: [true, false])
  func `a lock file that is a link or a folder is an error, which ends when that has gone`(
    isLink: Bool
  ) async throws {
    try scene.makeFolder()
    let lock = scene.url(Folder.lockName)
    if isLink {
      let target = scene.folder.appendingPathExtension("target")
      try FileManager.default.createSymbolicLink(at: lock, withDestinationURL: target)
    } else {
      try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
    }
    let cache = scene.open()
    #expect(try await failure(of: cache.get("a"))?.systemError == (isLink ? .ELOOP : .EISDIR))

    try FileManager.default.removeItem(at: lock)

    try await cache.set(Data("x"), for: "a").value
    #expect(try await cache.get("a").value == Data("x"))
  }

  @Test func `a cache of a folder that was in use works when that has been left`() async throws {
    let first = scene.open()
    try await first.set(Data("x"), for: "a").value
    let second = scene.open()
    #expect(try await failure(of: second.get("a"))?.isInUse == true)

    try await first.close().value

    #expect(try await second.get("a").value == Data("x"))
  }
}
