import Foundation
import Testing

@testable import Millpond

@Suite struct DiskCacheNamedTests {
  @Test(arguments: ["pictures", "../../up", "", "\u{E4}", String(repeating: "x", count: 400)])
  func `a name makes a folder of its own in the caches folder of the program`(name: String) throws {
    let folder = CachesFolder.folder(named: name)
    let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
    let parent = folder.deletingLastPathComponent()

    #expect(parent.path == CachesFolder.ofProgram.path)
    #expect(folder.standardizedFileURL.path == folder.path)
    #expect(parent.deletingLastPathComponent().path == caches?.path)
  }

  @Test func `a value is there for the next cache of the name`() async throws {
    let name = "millpond \(UUID())"
    defer { try? FileManager.default.removeItem(at: CachesFolder.folder(named: name)) }
    let disk = DiskCache(named: name, byteLimit: .mebibytes(1))
    try await disk.set(Data([1]), for: "a").value
    try await disk.close()

    let next = DiskCache(named: name, byteLimit: .mebibytes(1))

    #expect(try await next.get("a").value == Data([1]))
    #expect(try await next.contains("a").value)
    try await next.close()
  }
}
