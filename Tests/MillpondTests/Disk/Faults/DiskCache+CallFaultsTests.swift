import Foundation
import MillpondCore
import Testing

@testable import Millpond

/// System calls that fail, or stop halfway.
@Suite(.timeLimit(.minutes(3))) struct DiskCacheCallFaultsTests {
  let scene = DiskScene()
  private let calls = FaultyCalls()

  private func open() async throws -> DiskCache {
    let cache = scene.open(.mebibytes(1), calls)
    cache.set(Data("old"), for: "a")
    cache.set(Data("b"), for: "b")
    cache.set(Data(count: 70_000), for: "large")
    try await cache.flush().value
    return cache
  }

  /// Returns whether the writes before the fault are there, and later ones are kept.
  private func isIntact(_ cache: DiskCache) async throws -> Bool {
    calls.recover()
    guard try await cache.get("a").valueIfAny == Data("old"),
      try await cache.get("b").valueIfAny == Data("b"),
      try await cache.get("large").valueIfAny == Data(count: 70_000)
    else { return false }
    try await cache.set(Data("new"), for: "a").value
    return try await cache.get("a").valueIfAny == Data("new")
  }

  @Test(arguments: [POSIXErrorCode.ENOSPC, .EIO, .EDQUOT, .EFBIG], [10, 90_000])
  func `a set that cannot be written fails, leaves nothing, and keeps the old value`(
    code: POSIXErrorCode, count: Int
  ) async throws {
    let cache = try await open()
    let (bytes, cost) = (scene.bytesOnDisk, try await cache.totalBytes.value)
    calls.inject(.error(code), of: [.write], count: 9)

    let error = try await failure(of: cache.set(Data(count: count), for: "a"))

    #expect(error?.systemError == code)
    #expect(scene.bytesOnDisk == bytes)
    #expect(try await cache.totalBytes.value == cost)
    #expect(try await isIntact(cache))
  }

  @Test(arguments: [FaultyCalls.Call.make, .close])
  func `a large value whose file cannot be made or closed fails, and leaves nothing`(
    call: FaultyCalls.Call
  ) async throws {
    let cache = try await open()
    let bytes = scene.bytesOnDisk
    calls.inject(.error(.ENOSPC), of: [call])

    #expect(try await failure(of: cache.set(Data(count: 90_000), for: "a"))?.systemError == .ENOSPC)
    #expect(scene.bytesOnDisk == bytes)
    #expect(try await isIntact(cache))
  }

  @Test func `a write in a batch fails only if it does not fit`() async throws {
    let cache = try await open()
    // All together, and then the first of those that were.
    calls.inject(.error(.ENOSPC), of: [.write], count: 2)

    let recorders = (0..<3).map { number in cache.set(Data("\(number)"), for: "c\(number)") }
    var failed: [Int] = []
    for (number, outcome) in recorders.enumerated() {
      if try await failure(of: outcome) != nil { failed.append(number) }
    }

    for number in 0..<3 {
      let value = try await cache.get("c\(number)").valueIfAny
      #expect(value == (failed.contains(number) ? nil : Data("\(number)")))
    }
    #expect(failed.count <= 2 && !failed.isEmpty)
    #expect(try await isIntact(cache))
  }

  @Test(arguments: [true, false])
  func `a write that stops halfway is never visible, even if it cannot be undone`(isUndone: Bool)
    async throws
  {
    let cache = try await open()
    calls.inject(.half, of: [.write])
    calls.inject(.error(.ENOSPC), of: [.write])
    if !isUndone { calls.inject(.error(.EIO), of: [.truncate]) }

    #expect(try await failure(of: cache.set(Data(count: 500), for: "a"))?.systemError == .ENOSPC)
    try await cache.set(Data("c"), for: "c").value
    calls.die()
    try await cache.close().value

    calls.recover()
    let again = scene.open(.mebibytes(1), calls)
    #expect(try await again.get("c").value == Data("c"))
    #expect(try await isIntact(again))
  }

  @Test(arguments: [POSIXErrorCode.EACCES, .EROFS])
  func `a folder that can only be read serves gets and fails sets`(
    code: POSIXErrorCode
  ) async throws {
    try await open().close().value
    let cache = scene.open(.mebibytes(1), FaultyCalls(refusing: code))

    #expect(try await cache.get("b").value == Data("b"))
    #expect(try await cache.get("large").value == Data(count: 70_000))
    #expect(try await failure(of: cache.set(Data("new"), for: "a"))?.systemError == code)
    #expect(try await cache.get("a").value == Data("old"))
    #expect(try await failure(of: cache.remove("a"))?.systemError == code)
    #expect(try await failure(of: cache.flush()) == nil)
    try await cache.close().value
    #expect(try await isIntact(scene.open(.mebibytes(1))))
  }

  @Test(arguments: [POSIXErrorCode.EACCES, .EROFS])
  func `a folder that cannot be made is an error`(code: POSIXErrorCode) async throws {
    calls.inject(.error(code), of: [.makeFolder], count: .max)
    let cache = scene.open(.mebibytes(1), calls)

    #expect(try await failure(of: cache.get("a"))?.systemError == code)
    #expect(try await failure(of: cache.set(Data(), for: "a"))?.systemError == code)
    #expect(scene.names == [])
  }

  @Test(arguments: [POSIXErrorCode.EMFILE, .ENFILE])
  func `operations that need a file descriptor fail while none is free, and nothing is lost`(
    code: POSIXErrorCode
  ) async throws {
    let cache = try await open()
    calls.inject(.error(code), of: [.open, .make], count: .max)

    #expect(try await failure(of: cache.get("large"))?.systemError == code)
    #expect(try await cache.get("b").value == Data("b"))
    #expect(try await failure(of: cache.set(Data(count: 70_000), for: "c"))?.systemError == code)
    #expect(try await failure(of: cache.flush(.synchronized))?.systemError == code)
    #expect(try await isIntact(cache))
    try await cache.flush(.synchronized).value
  }

  @Test func `a folder that cannot be opened for lack of file descriptors can be opened later`()
    async throws
  {
    try await open().close().value
    calls.inject(.error(.EMFILE), of: [.open], count: .max)
    let cache = scene.open(.mebibytes(1), calls)
    #expect(try await failure(of: cache.get("a"))?.systemError == .EMFILE)
    #expect(try await failure(of: cache.set(Data(), for: "a"))?.systemError == .EMFILE)
    calls.recover()

    #expect(try await isIntact(cache))
  }

  @Test(arguments: FaultyCalls.Call.allCases)
  func `a call that is interrupted is repeated`(call: FaultyCalls.Call) async throws {
    calls.inject(.error(.EINTR), of: [call], count: 3)

    let cache = try await open()
    try await cache.flush(.synchronized).value
    try await cache.remove("large").value
    try await cache.set(Data(count: 70_000), for: "large").value
    try await cache.close().value

    #expect(scene.exists(scene.url(.index)))
    let again = scene.open(.mebibytes(1), calls)
    #expect(try await again.get("large").value.count == 70_000)
    #expect(try await isIntact(again))
  }

  @Test(arguments: [FaultyCalls.Call.read, .write])
  func `a read or a write that stops halfway is continued`(call: FaultyCalls.Call) async throws {
    calls.inject(.half, of: [.readNow], count: 9)
    calls.inject(.half, of: [call], count: 20)

    let cache = try await open()
    #expect(try await cache.get("a").value == Data("old"))
    try await cache.close().value

    #expect(try await isIntact(scene.open(.mebibytes(1), calls)))
  }

  @Test(arguments: [10, 70_000])
  func `a write that falsely reports success is a miss, and damages no neighbour`(count: Int)
    async throws
  {
    let cache = try await open()
    calls.inject(.lie, of: [.write])

    try await cache.set(Data(count: count), for: "c").value
    try await cache.set(Data("d"), for: "d").value

    #expect(try await cache.get("c").valueIfAny == nil)
    #expect(try await cache.get("d").value == Data("d"))
    #expect(await cache.openStatistics().damages == 1)
    calls.die()
    try await cache.close().value
    calls.recover()
    let again = scene.open(.mebibytes(1))
    #expect(try await again.get("c").valueIfAny == nil)
    #expect(try await again.get("d").value == Data("d"))
    #expect(try await isIntact(again))
  }

  @Test(arguments: [POSIXErrorCode.EPERM, .EIO])
  func `a value that cannot be read at the moment is an error, and stays`(code: POSIXErrorCode)
    async throws
  {
    let cache = try await open()
    calls.inject(.half, of: [.readNow], count: 1)
    calls.inject(.error(code), of: [.read])
    #expect(try await failure(of: cache.get("a"))?.systemError == code)
    calls.inject(.error(code), of: [.open])
    #expect(try await failure(of: cache.get("large"))?.systemError == code)

    #expect(try await isIntact(cache))
  }

  @Test func `an error names the folder, and the key that it is about`() async throws {
    let cache = try await open()
    calls.inject(.error(.EIO), of: [.write], count: 3)

    let error = try await failure(of: cache.set(Data("x"), for: "of Alice"))

    guard case .failed(let folder, "of Alice", let underlying) = error?.diskError else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(folder == scene.folder.path)
    #expect((underlying as? POSIXError)?.code == .EIO)
    #expect(error?.diskError?.localizedDescription.contains(folder) == true)
  }
}
