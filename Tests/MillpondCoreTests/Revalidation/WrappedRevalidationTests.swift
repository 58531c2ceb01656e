import Foundation
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

/// Stored values that are asked about through everything that a cache can be wrapped in.
@Suite struct WrappedRevalidationTests {
  typealias Memory = MemoryCache<String, Int>

  /// A wrapper; values that it holds are asked about.
  struct Wrapping: Sendable, CustomTestStringConvertible {
    let name: String
    let wrap: @Sendable (Memory) -> AnyCache<String, Int>

    var testDescription: String { name }

    init(_ wrap: @escaping @Sendable (Memory) -> some Cache<String, Int>) {
      let wrapped = wrap(Memory(countLimit: 1))
      name = "\(type(of: wrapped))".split(separator: "<").first.map(String.init) ?? ""
      self.wrap = { AnyCache(wrap($0)) }
    }
  }

  static let wrappings = [
    Wrapping { AnyCache($0) },
    Wrapping { $0.named("memory") },
    Wrapping { $0.monitored(by: CacheMonitor()) },
    Wrapping { $0.retrying(.immediate(attempts: 2)) },
    Wrapping { $0.timingOut(after: .seconds(5), clock: ManualClock()) },
    Wrapping { $0.conditioned { $0 == "a" } },
    Wrapping { $0.delivered(on: .global()) },
    Wrapping { $0.readOnly() },
    Wrapping { $0.switched(to: Memory(countLimit: 1)) { $0 != "a" } },
    Wrapping { $0.postProcessed { _, value in value } },
    Wrapping { $0.filtered { _, value in value == 1 } },
    Wrapping { $0.hedged(with: Memory(countLimit: 1), after: .seconds(1), clock: ManualClock()) },
    Wrapping { $0.recovering(with: Memory(countLimit: 1)) },
    Wrapping { $0.mapKeys { (key: String) in key } },
    Wrapping { $0.mapValues(encode: { (value: Int) in value }, decode: { $0 }) },
    Wrapping { $0.layered(over: EmptyCache()) },
    Wrapping { $0.reusingInFlight() },
    Wrapping { $0.limited(to: 1) },
    Wrapping { $0.rateLimited(to: 1, per: .seconds(60), clock: ManualClock()) },
    Wrapping { $0.circuitBreaking(afterFailures: 1, for: .seconds(60), clock: ManualClock()) },
    Wrapping { $0.scoped(to: CacheScope()) },
    Wrapping { $0.stoppable() },
    Wrapping { HidingUnsaved(base: $0, unsaved: UnsavedChanges()) },
  ]

  @Test(arguments: wrappings)
  func `a value in a wrapped cache is asked about, and stays where it is`(
    wrapping: Wrapping
  ) async throws {
    let scene = RevalidationScene()
    let cache = wrapping.wrap(scene.memory).layered(over: scene.origin.source)
    let stored = Stamped(1, age: .seconds(11), validator: Validator(entityTag: "1"))
    _ = scene.memory.apply(.fill("a", stored, FillToken()))

    let asked = cache.ask(RevalidationScene.atMostTen)
    try await asked.ended()

    #expect(asked.values.map(\.value) == [1])
    #expect(asked.values.map(\.age) == [.zero])
    #expect(scene.origin.asked == ["1"])
    let isReadOnly = wrapping.name == "ReadOnly"
    #expect(scene.memory.peekStamped("a")?.age == (isReadOnly ? .seconds(11) : .zero))
  }

  @Test func `every wrapper of the library is among them`() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Sources/MillpondCore").standardized
    let files = try #require(
      FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var names: Set<String> = []
    let conformance = /extension (\w+): Cache where Base: Cache/
    let declaration = /struct (\w+)<(?:Base|Upper): Cache[^{]*: [\w, ]*Cache/
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      names.formUnion(text.matches(of: conformance).map { String($0.1) })
      names.formUnion(text.matches(of: declaration).map { String($0.1) })
    }

    #expect(names.count > 10)
    #expect(names.subtracting(Self.wrappings.map(\.name)).isEmpty)
  }

  // MARK: Values that a wrapper changes

  @Test func `a processed value is processed once, and stored as it came`() {
    let scene = RevalidationScene()
    let doubled = scene.memory.postProcessed { _, value in value * 10 }
    let stored = Stamped(1, age: .seconds(11), validator: Validator(entityTag: "1"))
    _ = scene.memory.apply(.fill("a", stored, FillToken()))

    let asked = doubled.layered(over: scene.origin.source).ask(RevalidationScene.atMostTen)

    #expect(asked.values.map(\.value) == [10])
    #expect(scene.memory.peekStamped("a")?.value == 1)
    #expect(scene.memory.peekStamped("a")?.age == .zero)
  }

  @Test func `a processed value that was replaced during the question stays replaced`() {
    let scene = RevalidationScene()
    let processed = scene.memory.postProcessed { _, value in value * 10 }
    let stored = Stamped(1, age: .seconds(11), validator: Validator(entityTag: "1"))
    _ = scene.memory.apply(.fill("a", stored, FillToken()))
    scene.origin.hold()
    let asked = processed.layered(over: scene.origin.source).ask(RevalidationScene.atMostTen)

    scene.memory.remove("a")
    scene.origin.answer()

    #expect(asked.values.map(\.value) == [10])
    #expect(scene.memory.count == 0)
  }

  @Test func `a processed value that was evicted during the question is not stored processed`() {
    let scene = RevalidationScene()
    let processed = scene.memory.postProcessed { _, value in value * 10 }
    let stored = Stamped(1, age: .seconds(11), validator: Validator(entityTag: "1"))
    _ = scene.memory.apply(.fill("a", stored, FillToken()))
    scene.origin.hold()
    let asked = processed.layered(over: scene.origin.source).ask(RevalidationScene.atMostTen)

    scene.memory.countLimit = 0
    scene.memory.countLimit = 100
    scene.origin.answer()

    #expect(asked.values.map(\.value) == [10])
    #expect(scene.memory.count == 0)
  }

  @Test func `a value that a wrapper refuses is not validated`() {
    let scene = RevalidationScene()
    let stored = Stamped(1, age: .seconds(11), validator: Validator(entityTag: "1"))
    _ = scene.memory.apply(.fill("a", stored, FillToken()))
    let stopped = scene.memory.stoppable()
    _ = stopped.shutDown(deadline: .after(.zero))

    for cache in [
      AnyCache(scene.memory.filtered { _, _ in false }), AnyCache(stopped),
      AnyCache(scene.memory.conditioned { _ in false }),
      AnyCache(scene.memory.switched(to: Memory(countLimit: 1)) { $0 == "a" }),
      AnyCache(scene.memory.postProcessed { _, _ in throw Refused() }),
    ] {
      #expect(cache.confirmable("a") == nil)
    }
  }
}
