import Foundation
import LocalRedis
import Millpond
import MillpondRedis
import MillpondTesting
import Synchronization
import TestTraits
import Testing

@Suite(.withServer, .heavy) struct RedisCacheLawTests {
  @Test(arguments: CacheLaw.allCases)
  func `it keeps the laws`(law: CacheLaw) async throws {
    let scene = try RedisScene()
    let redis = try scene.client(connections: 2)
    let number = Atomic(0)
    let laws = CacheLaws(keys: ["a", "b"], values: (0..<6).map { Data("value \($0)".utf8) }) {
      RedisCache(redis, prefix: "\(number.add(1, ordering: .relaxed).newValue)/")
    }

    let breaches = await laws.breaches(of: [law], seeds: 0..<3)

    #expect(breaches.isEmpty, "\(breaches.map(\.description).joined(separator: "\n"))")
  }
}
