import Foundation
import Millpond
import MillpondTesting
import Testing

/// The laws, on the cache that answers from a thread of its own.
@Suite struct DiskCacheLawTests {
  private var laws: CacheLaws<String, Data> {
    CacheLaws(keys: ["a", "b"], values: (0..<6).map { Data("value \($0)") }) { FreshDisk() }
  }

  @Test(arguments: [CacheLaw.noLateWrite, .everyGetEnds, .nothingLeft])
  func `the disk keeps the rules`(law: CacheLaw) async {
    let breaches = await laws.breaches(of: [law], seeds: 0..<3)

    #expect(breaches.isEmpty, "\(breaches.map(\.description).joined(separator: "\n"))")
  }

  @Test func `the empty cache is the identity beside a disk`() async {
    let breaches = await laws.breaches(of: [.identity], seeds: 0..<3)

    #expect(breaches.isEmpty, "\(breaches.map(\.description).joined(separator: "\n"))")
  }
}

/// A disk cache with a folder of its own, which is removed with it.
private struct FreshDisk: Cache {
  private let scene = DiskScene()
  private let cache: DiskCache

  init() {
    cache = scene.open()
  }

  func get(_ key: String, _ lookup: Lookup) -> Signal<Data> {
    cache.get(key, lookup)
  }

  func answers(_ key: String, _ lookup: Lookup) -> Signal<Answer<Data>> {
    cache.answers(key, lookup)
  }

  func apply(_ change: Change<String, Data>) -> Signal<Void> {
    cache.apply(change)
  }
}
