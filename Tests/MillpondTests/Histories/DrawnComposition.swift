import Foundation
import MillpondTesting
import RandomHistories
import Synchronization

@testable import Millpond

/// A composition that is drawn at random by the seed of a scene.
struct DrawnComposition {
  typealias Scene = HistoryScene<String, String>
  typealias Layer = AnyCache<String, String>

  /// The store between memory and the origin.
  enum Store: CaseIterable {
    case none, memory, disk, diskLater, closures, closuresLater
  }

  /// The sharing of flights and the remembering of values.
  enum Sharing: CaseIterable {
    case none, reusing, replayed, entries, remembered, multiplexed, persisted
  }

  let scene: Scene
  let store: Store
  let sharing: Sharing
  let hasMemory: Bool
  let isScoped: Bool

  /// Whether memory has room for one value only, where something below it keeps all.
  let isTight: Bool

  /// The time to live in every layer.
  let life: Duration?

  /// Whether the process is killed now and then.
  let isMortal: Bool

  init(_ scene: Scene) {
    var generator = SeededGenerator(seed: scene.seed ^ 0x5EED)
    self.init(
      scene, store: Store.allCases.randomElement(using: &generator) ?? .none,
      sharing: Sharing.allCases.randomElement(using: &generator) ?? .none,
      hasMemory: .random(using: &generator), isScoped: .random(using: &generator),
      isTight: .random(using: &generator))
  }

  /// Makes a composition all of whose layers drop values after some time.
  init(expiringIn scene: Scene) {
    var generator = SeededGenerator(seed: scene.seed ^ 0xA6E)
    let stores: [Store] = [.none, .memory, .disk]
    let sharings: [Sharing] = [.none, .reusing, .replayed, .entries, .remembered]
    self.init(
      scene, store: stores.randomElement(using: &generator) ?? .none,
      sharing: sharings.randomElement(using: &generator) ?? .none,
      hasMemory: .random(using: &generator), isScoped: .random(using: &generator),
      isTight: .random(using: &generator),
      life: .seconds([5, 20, 100].randomElement(using: &generator) ?? 5))
  }

  /// Makes a composition over a disk whose process is killed now and then.
  init(dyingIn scene: Scene) {
    var generator = SeededGenerator(seed: scene.seed ^ 0xDEAD)
    let sharings: [Sharing] = [.none, .reusing, .replayed, .remembered, .persisted]
    self.init(
      scene, store: Int.random(in: 0..<3, using: &generator) == 0 ? .diskLater : .disk,
      sharing: sharings.randomElement(using: &generator) ?? .none,
      hasMemory: .random(using: &generator), isScoped: .random(using: &generator),
      isTight: .random(using: &generator), isMortal: true)
  }

  init(
    _ scene: Scene, store: Store, sharing: Sharing, hasMemory: Bool, isScoped: Bool,
    isTight: Bool = false, life: Duration? = nil, isMortal: Bool = false
  ) {
    self.scene = scene
    self.store = store
    self.sharing = sharing
    self.hasMemory = hasMemory
    self.isScoped = isScoped
    self.isTight = isTight && store != .none
    self.life = life
    self.isMortal = isMortal
  }

  /// Makes the composition, and adds its description to the scene.
  func make() -> Layer {
    scene.says(
      "[\(sharing), memory \(hasMemory), store \(store), scoped \(isScoped), tight \(isTight)]")
    if isScoped { scene.isScoped = true }
    if let life {
      scene.says("[expires after \(life)]")
      scene.life = life
    }
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
    case .entries: return AnyCache(SignalEntries(memory: memory(), lower: lower()))
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
    scene.refresh = { map.refresh($0) }
    scene.states = { key in map.states(of: key).map { $0.value } }
    return AnyCache(map)
  }

  private func memory() -> MemoryCache<String, String> {
    let memory = MemoryCache<String, String>(
      countLimit: isTight ? 1 : 1_000, timeToLive: timeToLive, clock: scene.clock)
    if store != .none { scene.trim = { memory.trim(to: 0) } }
    scene.clockUses.append { _ = memory.peek("") }
    return memory
  }

  /// Memory, the store and the origin.
  private func layered() -> Layer {
    hasMemory || store == .none ? AnyCache(memory().layered(over: lower())) : lower()
  }

  /// Returns the store and the origin.
  private func lower() -> Layer {
    store == .none ? AnyCache(scene.origin) : AnyCache(stored().layered(over: scene.origin))
  }

  /// Makes the storing layers, without the origin.
  private func kept() -> Layer {
    hasMemory || store == .none ? AnyCache(memory().layered(over: stored())) : stored()
  }

  private func stored() -> Layer {
    switch store {
    case .none: AnyCache(EmptyCache())
    case .memory:
      AnyCache(keeper())
    case .disk: AnyCache(disk().mapValues(.text))
    case .diskLater: AnyCache(disk().mapValues(Codec.text.then(later)))
    case .closures: closures()
    case .closuresLater: AnyCache(closures().mapValues(later))
    }
  }

  func disk() -> DiskCache {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("millpond-history-\(scene.name)")
    var options = DiskOptions(byteLimit: 16 << 20, timeToLive: timeToLive)
    if life != nil { options.now = { [clock = scene.clock] in WallTime(of: clock) } }
    let calls = FaultyCalls()
    let disk =
      isMortal
      ? DiskCache(directory: folder, options, FileSystem(calls))
      : DiskCache(directory: folder, options)
    if isMortal { say(of: disk, calls, in: folder) }
    scene.closings.append { disk.close() }
    scene.endings.append { try? FileManager.default.removeItem(at: folder) }
    return disk
  }

  /// Registers the kill of the process and its traces with the scene.
  private func say(of disk: DiskCache, _ calls: FaultyCalls, in folder: URL) {
    scene.deaths.append(
      HistoryKill(
        arm: {
          calls.inject(
            .death(isHalfDone: $0.isMultiple(of: 2)), after: $0, of: FaultyCalls.Call.effects)
        },
        die: {
          _ = try? await disk.flush().value
          calls.die()
        }))
    scene.traces = {
      let files = try? FileManager.default.contentsOfDirectory(
        at: folder, includingPropertiesForKeys: nil)
      let contents = (files ?? []).compactMap { try? Data(contentsOf: $0) }
      return { value in contents.contains { $0.range(of: Data(value.utf8)) != nil } }
    }
  }

  /// Makes a memory that keeps all values, below one that may be trimmed.
  private func keeper() -> MemoryCache<String, String> {
    let memory = MemoryCache<String, String>(
      countLimit: 1_000, timeToLive: timeToLive, clock: scene.clock)
    scene.clockUses.append { _ = memory.peek("") }
    return memory
  }

  private var timeToLive: TimeToLive {
    life.map { .after($0) } ?? .forever
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
      },
      removeMatching: { isRemoved in
        for key in kept.change({ Array($0.keys) }) where isRemoved(key) {
          kept.change { $0[key] = nil }
        }
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

/// A memory cache whose entries are signals that its gets start.
private struct SignalEntries<Lower: Cache>: Cache {
  let memory: MemoryCache<Lower.Key, Lower.Value>
  let lower: Lower

  private var layered: Layered<MemoryCache<Lower.Key, Lower.Value>, Lower> {
    memory.layered(over: lower)
  }

  func get(_ key: Lower.Key, _ lookup: Lookup) -> Signal<Lower.Value> {
    guard lookup.freshness == .any else { return layered.get(key, lookup) }
    return memory.signal(for: key) { lower.get(key, lookup) }
  }

  func apply(_ change: Change<Lower.Key, Lower.Value>) -> Signal<Void> {
    layered.apply(change)
  }
}

extension Codec where Encoded == Data, Decoded == String {
  static var text: Codec {
    Codec(encode: { Data($0.utf8) }, decode: { String(decoding: $0, as: UTF8.self) })
  }
}

extension WallTime {
  /// Makes a calendar that moves with a clock.
  fileprivate init(of clock: ManualClock) {
    let (seconds, attoseconds) = clock.now.offset.components
    self.init(
      microseconds: (1_800_000_000 + seconds) * 1_000_000 + attoseconds / 1_000_000_000_000)
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
