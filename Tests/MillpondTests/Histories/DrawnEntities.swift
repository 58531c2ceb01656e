import Millpond
import MillpondTesting

/// A book of the histories; its title is different in each of its forms.
struct HistoryBook: Entity, Hashable {
  let id: String
  let title: String
}

/// Entities of a store that are fetched, set and removed through it.
struct DrawnEntities {
  let scene: HistoryScene<String, HistoryBook>

  init(_ scene: HistoryScene<String, HistoryBook>) {
    self.scene = scene
  }

  func make() -> AnyCache<String, HistoryBook> {
    scene.getsGoOn()
    scene.mayForget()
    let store = EntityStore()
    scene.shows { key in
      store.signal(of: Reference<HistoryBook>(key)).map { $0.value }
    }
    return AnyCache(
      MemoryCache(countLimit: 1_000_000, clock: scene.clock).layered(over: scene.origin)
        .reusingInFlight(clock: scene.clock).through(store))
  }
}
