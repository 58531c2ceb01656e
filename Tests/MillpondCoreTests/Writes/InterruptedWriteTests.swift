import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Writes that stop halfway, since the process is killed, to layers that outlive it.
@Suite struct InterruptedWriteTests {
  /// The life of a process: after a number of changes nothing reaches a layer any more.
  final class Life: Sendable {
    private let left: Locked<Int>

    init(changes: Int) {
      left = Locked(changes)
    }

    func takesOne() -> Bool {
      left.withLock { left in
        left -= 1
        return left >= 0
      }
    }
  }

  /// A layer that outlives the process, as long as that lasts.
  struct Persistent: Cache {
    let kept = TestCache<String, Int>()
    let life: Life

    func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
      kept.get(key, lookup)
    }

    func apply(_ change: Change<String, Int>) -> Signal<Void> {
      life.takesOne() ? kept.apply(change) : .never
    }
  }

  enum Write: CaseIterable {
    case set, remove, removeAll
  }

  @Test(arguments: Write.allCases, 0...4)
  func `a lower layer is never older than an upper one after a kill`(
    write: Write, changes: Int
  ) {
    let life = Life(changes: 3 + changes)
    let layers = (0..<3).map { _ in Persistent(life: life) }
    let cache = layers[0].layered(over: layers[1].layered(over: layers[2]))
    cache.set(1, for: "a")

    switch write {
    case .set: cache.set(2, for: "a")
    case .remove: cache.remove("a")
    case .removeAll: cache.removeAll()
    }

    let former = layers.map { $0.kept.contents["a"] == 1 }
    let stored = former.filter { !$0 }.count
    #expect(stored == min(3, changes))
    // From the uppermost down: first the layers that were not written, then those that were.
    #expect(former == (0..<3).map { $0 < 3 - stored })
  }
}
