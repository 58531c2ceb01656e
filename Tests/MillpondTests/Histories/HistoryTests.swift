import Foundation
import Millpond
import MillpondTesting
import RandomHistories
import TestTraits
import Testing

/// Random programs over compositions, judged by the order of the calls.
@Suite(.heavy) struct HistoryTests {
  @Test func `no composition shows what no order of the calls allows`() async {
    await expect { DrawnComposition($0).make() }
  }

  @Test func `no entity is shown that no order of the calls allows`() async {
    await expect(value: { HistoryBook(id: $0, title: "\($0)#\($1)") }) { DrawnEntities($0).make() }
  }

  @Test func `a set is kept whatever else is written while it is encoded`() async {
    await expect(.crowds, share: 4) { scene in
      let later: [DrawnComposition.Store] = [.diskLater, .closuresLater]
      return DrawnComposition(
        scene, store: later[Int(scene.seed % 2)], sharing: .none, hasMemory: false, isScoped: false
      ).make()
    }
  }

  @Test func `of two sets by two ways into one disk the later one stays`() async {
    await expect(.overtaking) { scene in
      let drawn = DrawnComposition(
        scene, store: .disk, sharing: .none, hasMemory: false, isScoped: false)
      let disk = drawn.disk()
      scene.entryPoints.append(
        AnyCache(disk.mapValues(Codec.text.then(drawn.later)).layered(over: scene.origin)))
      return disk.mapValues(.text).layered(over: scene.origin)
    }
  }

  @Test func `what a predicate removed does not come back, and nothing else goes`() async {
    await expect(.selecting) { DrawnComposition($0).make() }
    await expect(.selecting) { scene in
      let drawn = DrawnComposition(
        scene, store: .disk, sharing: .none, hasMemory: false, isScoped: false)
      let disk = drawn.disk()
      scene.entryPoints.append(
        AnyCache(disk.mapValues(Codec.text.then(drawn.later)).layered(over: scene.origin)))
      return disk.mapValues(.text).layered(over: scene.origin)
    }
    await expect(.selecting) { scene in
      let memory = MemoryCache<String, String>(countLimit: 1_000, clock: scene.clock)
      let drawn = DrawnComposition(
        scene, store: .none, sharing: .none, hasMemory: false, isScoped: false)
      scene.entryPoints.append(
        AnyCache(memory.mapValues(drawn.later).layered(over: scene.origin)))
      return memory.layered(over: scene.origin)
    }
  }

  @Test func `whichever way the clock is set, values last for their time and no longer`() async {
    await expect(.clocks) { DrawnComposition(expiringIn: $0).make() }
    await expect(.clocks) { DrawnComposition($0).make() }
  }

  @Test func `a stored value outlasts a kill, and a removed one does not come back`() async {
    await expect(.kills, value: { "<\($0)#\($1)>" }) { DrawnComposition(dyingIn: $0).make() }
  }

  @Test func `values that the origin sends to callers that have left are stored nowhere`() async {
    await expect { scene in
      scene.originSendsUnchecked()
      return DrawnComposition(scene).make()
    }
  }

  @Test func `a fetch that makes a get itself is served, or fails since it would wait for itself`()
    async
  {
    await expect(.askingBack) { DrawnComposition($0).make() }
    await expect(.askingBack, value: { HistoryBook(id: $0, title: "\($0)#\($1)") }) {
      DrawnEntities($0).make()
    }
  }

  @Test func `after a sign-out nothing is fetched for earlier callers`() async {
    await expect(.signingOut) { DrawnAccount($0).make() }
  }

  @Test func `an archive restores the store as a commit has left it`() async {
    for seed in 0..<historyCount {
      guard let breach = await ArchiveHistory.search.breaches(seed: seed).first else { continue }
      Issue.record("\(breach)")
      return
    }
  }

  @Test func `one get is one hit or one miss`() async {
    await expect { scene in
      let memory = MemoryCache<String, String>(countLimit: 1_000, clock: scene.clock)
      scene.questions = {
        let statistics = memory.statistics
        return statistics.hits + statistics.misses
      }
      return scene.seed.isMultiple(of: 2)
        ? AnyCache(memory.layered(over: scene.origin)) : AnyCache(memory)
    }
  }

  @Test func `a flight that was raised is cancelled when its last caller leaves`() async {
    await expect(.priorities) { scene in
      let shared = scene.origin.reusingInFlight(clock: scene.clock)
      let quick = Answers().limited(to: 2, reserved: 1)
      quick.get("slow").subscribe { _ in }
      scene.entryPoints.append(AnyCache(shared))
      return AnyCache(Race(first: quick, second: shared).reusingInFlight(clock: scene.clock))
    }
  }
}

/// A source that answers at once, except for one key, which it never answers.
private struct Answers: Source {
  func get(_ key: String, _ lookup: Lookup) -> Signal<String> {
    key == "slow" ? .never : .empty
  }
}

/// A source that races two others.
private struct Race<First: Source<String, String>, Second: Source<String, String>>: Source {
  let first: First
  let second: Second

  func get(_ key: String, _ lookup: Lookup) -> Signal<String> {
    .race([first.get(key, lookup), second.get(key, lookup)])
  }
}
