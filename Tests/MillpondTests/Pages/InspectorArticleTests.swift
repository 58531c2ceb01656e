import Foundation
import Millpond
import MillpondInspector
import MillpondTesting
import Testing

/// The code of the page "Looking inside a running cache".
@Suite struct InspectorArticleTests {
  static func pictures(over disk: DiskCache) -> some Cache<URL, Data> {
    // snippet
    let pictures = MemoryCache<URL, Data>(costLimit: .mebibytes(64), cost: \.count).named("memory")
      .layered(
        over: disk.mapKeys(\.absoluteString).named("disk")
          .layered(over: HTTPSource().limited(to: 6).named("network"))
          .reusingInFlight()
      )
      .monitored(by: CacheMonitor(active: .whileObserved))
    // end
    return pictures
  }

  static func inspect(_ pictures: some Cache<URL, Data>) throws -> Inspector {
    // snippet
    let inspector = try Inspector(pictures, title: "Pictures", allowing: [.removing, .trimming])
    print(inspector.address)  // http://127.0.0.1:, a port, and a token
    // end
    return inspector
  }

  static func end(_ inspector: Inspector) {
    // snippet
    inspector.stop()  // closes all pages
    // end
  }

  @Test func `the address is that of a page on this machine, and ends with the inspector`()
    async throws
  {
    let scene = DiskScene()
    let inspector = try Self.inspect(
      Self.pictures(
        over: DiskCache(directory: scene.folder, byteLimit: .mebibytes(1))))
    let address = try #require(URL(string: inspector.address))
    #expect(address.host() == "127.0.0.1")

    let page = try await HTTPSource().get(address).value
    #expect(String(decoding: page, as: UTF8.self).contains("<h1"))

    Self.end(inspector)
    await #expect(throws: (any Error).self) { try await HTTPSource().get(address).value }
  }
}
