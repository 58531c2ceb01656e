import Foundation
import Millpond
import MillpondTesting
import Synchronization

/// A composition that is drawn at random by the seed of a scene.
struct DrawnComposition {
  typealias Scene = HistoryScene<String, String>
  typealias Layer = AnyCache<String, String>

  /// What lies between memory and the origin.
  enum Store: CaseIterable {
    case none, memory, disk, diskLater, closures, closuresLater, keysLater
  }

  /// How flights are shared and values remembered.
  enum Sharing: CaseIterable {
    case none, reusing, replayed, remembered, multiplexed, persisted
  }

  let scene: Scene
  let store: Store
  let sharing: Sharing
  let hasMemory: Bool
  let isScoped: Bool

  /// Whether memory has room for one value only, where something below it keeps all.
  let isTight: Bool

  init(_ scene: Scene) {
    var generator = SeededGenerator(seed: scene.seed ^ 0x5EED)
    self.init(
      scene, store: Store.allCases.randomElement(using: &generator) ?? .none,
      sharing: Sharing.allCases.randomElement(using: &generator) ?? .none,
      hasMemory: .random(using: &generator), isScoped: .random(using: &generator),
      isTight: .random(using: &generator))
  }

  init(
    _ scene: Scene, store: Store, sharing: Sharing, hasMemory: Bool, isScoped: Bool,
    isTight: Bool = false
  ) {
    self.scene = scene
    self.store = store
    self.sharing = sharing
    self.hasMemory = hasMemory
    self.isScoped = isScoped
    self.isTight = isTight && store != .none
  }

  /// The composition; what it says of itself is told to the scene.
  func make() -> Layer {
    scene.says(
      "[\(sharing), memory \(hasMemory), store \(store), scoped \(isScoped), tight \(isTight)]")
    if isScoped { scene.usesScope() }
    let cache = shared()
    return isScoped && !isMultiplexed ? AnyCache(cache.scoped(to: scene.scope)) : cache
  }

  private var isMultiplexed: Bool {
    sharing == .multiplexed || sharing == .persisted
  }

  private func shared() -> Layer {
    let clock = scene.clock
    switch sharing {
    case .none: return layered()
    case .reusing: return AnyCache(layered().reusingInFlight(clock: clock))
    case .replayed: return AnyCache(lower().replayed(in: memory(), clock: clock))
    case .remembered:
      return AnyCache(scene.origin.remembered(in: kept(), FreshnessPolicy(), clock: clock))
    case .multiplexed: return multiplexed(over: AnyCache(scene.origin), .none)
    case .persisted: return multiplexed(over: AnyCache(scene.origin), Persistence(stored()))
    }
  }

  private func multiplexed(
    over source: Layer, _ persistence: Persistence<String, String>
  ) -> Layer {
    let map = MultiplexerMap(
      over: source, countLimit: isTight && sharing == .persisted ? 1 : 1_000,
      freshness: FreshnessPolicy(), persistence: persistence,
      scope: isScoped ? scene.scope : nil, clock: scene.clock)
    scene.refreshes { map.refresh($0) }
    scene.shows { key in map.states(of: key).map { $0.value } }
    return AnyCache(map)
  }

  private func memory() -> MemoryCache<String, String> {
    let memory = MemoryCache<String, String>(countLimit: isTight ? 1 : 1_000, clock: scene.clock)
    if store != .none { scene.trims { memory.trim(to: 0) } }
    return memory
  }

  /// Memory, the store and the origin.
  private func layered() -> Layer {
    hasMemory || store == .none ? AnyCache(memory().layered(over: lower())) : lower()
  }

  /// The store and the origin.
  private func lower() -> Layer {
    store == .none ? AnyCache(scene.origin) : AnyCache(stored().layered(over: scene.origin))
  }

  /// What keeps values, without the origin.
  private func kept() -> Layer {
    hasMemory || store == .none ? AnyCache(memory().layered(over: stored())) : stored()
  }

  private func stored() -> Layer {
    switch store {
    case .none: AnyCache(EmptyCache())
    case .memory: AnyCache(MemoryCache(countLimit: 1_000, clock: scene.clock))
    case .disk: AnyCache(disk().mapValues(.text))
    case .diskLater: AnyCache(disk().mapValues(Codec.text.then(later)))
    case .closures: closures()
    case .closuresLater: AnyCache(closures().mapValues(later))
    case .keysLater:
      AnyCache(
        MemoryCache(countLimit: 10_000, clock: scene.clock).mapKeys(asynchronously: {
          [scene] (key: String) in
          await scene.takesTime()
          return key
        }))
    }
  }

  func disk() -> DiskCache {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("millpond-history-\(scene.name)")
    let disk = DiskCache(directory: folder, byteLimit: 16 << 20)
    scene.closes { disk.close() }
    scene.atEnd { try? FileManager.default.removeItem(at: folder) }
    return disk
  }

  private func closures() -> Layer {
    let kept = Box([String: String]())
    return AnyCache(
      get: { key in kept.change { $0[key] }.map { .just($0) } ?? .empty },
      set: { value, key in
        kept.change { $0[key] = value }
        return .just(())
      },
      remove: { key in
        kept.change { $0[key] = nil }
        return .just(())
      },
      removeAll: {
        kept.change { $0 = [:] }
        return .just(())
      })
  }

  /// A codec that takes its time, when the program says so.
  var later: Codec<String, String> {
    .asynchronous(
      encode: { [scene] value in
        await scene.takesTime()
        return value
      }, decode: { $0 })
  }
}

extension Codec where Encoded == Data, Decoded == String {
  static var text: Codec {
    Codec(encode: { Data($0.utf8) }, decode: { String(decoding: $0, as: UTF8.self) })
  }
}

/// A value behind a lock.
final class Box<Content: Sendable>: Sendable {
  private let content: Mutex<Content>

  init(_ content: Content) {
    self.content = Mutex(content)
  }

  @discardableResult
  func change<Result: Sendable>(_ body: @Sendable (inout Content) -> Result) -> Result {
    content.withLock { body(&$0) }
  }
}
