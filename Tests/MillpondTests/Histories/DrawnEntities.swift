import Millpond
import MillpondEntityArchive
import MillpondTesting
import RandomHistories

/// A book of the histories; its title is different in each of its forms.
struct HistoryBook: Entity, Hashable {
  let id: String
  let title: String
}

/// Entities of a store that are fetched, set and removed through it, in a composition that is drawn
/// at random by the seed of a scene.
struct DrawnEntities {
  typealias Scene = HistoryScene<String, HistoryBook>

  /// The source below the store.
  enum Base: CaseIterable {
    case origin, shared, memory
  }

  let scene: Scene
  let base: Base

  /// Whether there is a second entry point, with slow writes.
  let hasLateEntryPoint: Bool
  let isScoped: Bool
  let isPruned: Bool

  init(_ scene: Scene) {
    var generator = SeededGenerator(seed: scene.seed ^ 0xB00C)
    self.scene = scene
    base = Base.allCases.randomElement(using: &generator) ?? .origin
    hasLateEntryPoint = .random(using: &generator)
    isScoped = .random(using: &generator)
    isPruned = .random(using: &generator)
  }

  /// Makes the composition, and adds its description to the scene.
  func make() -> AnyCache<String, HistoryBook> {
    scene.says(
      "[over \(base), late \(hasLateEntryPoint), scoped \(isScoped), pruned \(isPruned)]")
    scene.goesOn = true
    scene.mayForget = true
    if isScoped { scene.isScoped = true }
    // Added before the store: the store answers first, and so has to be erased last.
    let source = scoped(below)
    let store = EntityStore(scope: isScoped ? scene.scope : nil)
    if isPruned { scene.trim = { store.prune() } }
    scene.states = { Self.state(of: $0, in: store) }
    let books = AnyCache(source.through(store))
    if hasLateEntryPoint {
      let late = books.mapValues(
        .asynchronous(
          encode: { [scene] (book: HistoryBook) in
            await scene.takesTime()
            return book
          },
          decode: { [scene] (book: HistoryBook) in
            await scene.takesTime()
            return book
          }))
      scene.entryPoints.append(scoped(late))
    }
    return books
  }

  /// Returns the values of a book, nil for none; after the end of a scope, those of the next user.
  private static func state(of key: String, in store: EntityStore) -> Signal<HistoryBook?> {
    store.signal(of: Reference<HistoryBook>(key)).map { $0.value }
      .recover { _ in state(of: key, in: store) }
  }

  private func scoped(
    _ cache: some Cache<String, HistoryBook>
  ) -> AnyCache<String, HistoryBook> {
    isScoped ? AnyCache(cache.scoped(to: scene.scope)) : AnyCache(cache)
  }

  private var below: AnyCache<String, HistoryBook> {
    switch base {
    case .origin: AnyCache(scene.origin)
    case .shared: AnyCache(scene.origin.reusingInFlight(clock: scene.clock))
    case .memory:
      AnyCache(
        MemoryCache(countLimit: 1_000_000, clock: scene.clock).layered(over: scene.origin)
          .reusingInFlight(clock: scene.clock))
    }
  }
}
