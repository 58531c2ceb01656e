import Foundation
import MillpondCore
import MillpondSignals
import TestTraits
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(10)), .heavy) struct DiskCacheKillTests {
  /// The same folder for the child, which has nothing but its parent's number.
  private static func folder(of process: Int32) -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("millpond-kill-\(process)")
  }

  @Test(arguments: 0..<5)
  func `each value is an old or a new one, whole, after kill -9, and the folder is free`(
    round: Int
  ) async throws {
    let folder = Self.folder(of: TestPlatform.process)
    defer { try? FileManager.default.removeItem(at: folder) }

    await #expect(processExitsWith: .signal(9)) {
      let folder = DiskCacheKillTests.folder(of: TestPlatform.parentProcess)
      let cache = DiskCache(directory: folder, byteLimit: .mebibytes(64))
      for version in 0..<50 {
        for key in 0..<20 {
          let value = Data(repeating: UInt8(version), count: 20_000)
          let outcome = cache.set(value, for: "\(key)")
          // The process is killed while the latest set is being written.
          if version == 1 || version == 30 { try await outcome.value }
          if version == 31, key == 15 { TestPlatform.killThisProcess() }
        }
      }
    }

    let cache = DiskCache(directory: folder, byteLimit: .mebibytes(64))
    for key in 0..<20 {
      let value = try await cache.get("\(key)").valueIfAny ?? Data()
      #expect((30...31).contains { value == Data(repeating: $0, count: 20_000) }, "key \(key)")
    }
    #expect(try await cache.count.value == 20)
    #expect(cache.statistics.damages <= 1, "only what was being written may be torn")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.allSatisfy { !$0.hasSuffix(FileName.unfinishedSuffix) })
    try await cache.close().value
  }

  @Test(arguments: 0..<3)
  func `values that are set together are all there or none, after kill -9`(
    round: Int
  ) async throws {
    let folder = Self.folder(of: TestPlatform.process).appendingPathExtension("groups")
    defer { try? FileManager.default.removeItem(at: folder) }

    await #expect(processExitsWith: .signal(9)) {
      let folder = DiskCacheKillTests.folder(of: TestPlatform.parentProcess)
        .appendingPathExtension("groups")
      let cache = DiskCache(directory: folder, byteLimit: .mebibytes(64))
      for version in 0..<50 {
        let values = (0..<200).map { ("\($0)", Data(repeating: UInt8(version), count: 5_000)) }
        let outcome = cache.set(all: Dictionary(uniqueKeysWithValues: values))
        if version == 20 { try await outcome.value }
        // The process is killed while the latest ones are being written.
        if version == 23 { TestPlatform.killThisProcess() }
      }
    }

    let cache = DiskCache(directory: folder, byteLimit: .mebibytes(64))
    var versions: Set<UInt8> = []
    for key in 0..<200 {
      let value = try await cache.get("\(key)").valueIfAny ?? Data()
      let version = value.first ?? 0
      #expect(value == Data(repeating: version, count: 5_000), "key \(key)")
      versions.insert(version)
    }
    #expect(versions.count == 1 && versions.allSatisfy { (20...23).contains($0) }, "\(versions)")
    try await cache.close().value
  }

  @Test func `what a process without standard streams prints goes into no file of its cache`()
    async throws
  {
    let folder = Self.folder(of: TestPlatform.process).appendingPathExtension("daemon")
    defer { try? FileManager.default.removeItem(at: folder) }

    await #expect(processExitsWith: .success) {
      for descriptor in Int32(0)...2 { _ = close(descriptor) }
      let folder = DiskCacheKillTests.folder(of: TestPlatform.parentProcess)
        .appendingPathExtension("daemon")
      let cache = DiskCache(directory: folder, byteLimit: .mebibytes(1))
      for number in 0..<20 {
        try await cache.set(Data("\(number)"), for: "\(number)").value
        print("a line of a daemon")
        fflush(nil)
      }
      try await cache.close().value
    }

    let cache = DiskCache(directory: folder, byteLimit: .mebibytes(1))
    for number in 0..<20 {
      #expect(try await cache.get("\(number)").valueIfAny == Data("\(number)"))
    }
    try await cache.close().value
  }
}
