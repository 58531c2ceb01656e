import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SetAllTests {
  let upper = TestCache<String, Int>()
  let lower = TestCache<String, Int>()
  let recorder = Recorder<Void>()

  struct Trouble: Error {}

  private var failures: [String: any Error] {
    guard case CacheError.partlyWritten(let failures, _)? = recorder.failure else { return [:] }
    return Dictionary(uniqueKeysWithValues: failures.map { ("\($0.key)", $0.error) })
  }

  @Test func `all values are set when the call returns, in every layer`() {
    let cache = upper.layered(over: lower)

    recorder.subscribe(to: cache.set(all: ["a": 1, "b": 2]))

    #expect(upper.contents == ["a": 1, "b": 2] && lower.contents == upper.contents)
    #expect(recorder.values.count == 1 && recorder.isCompleted)
  }

  @Test func `all keys are removed when the call returns, and others stay`() {
    let cache = upper.layered(over: lower)
    cache.set(all: ["a": 1, "b": 2, "c": 3])

    recorder.subscribe(to: cache.remove(all: ["a", "c", "none", "a"]))

    #expect(upper.contents == ["b": 2] && lower.contents == ["b": 2])
    #expect(recorder.isCompleted)
  }

  @Test func `of no keys the outcome is a success`() {
    #expect(Recorder<Void>().subscribe(to: upper.set(all: [:])).values.count == 1)
    #expect(Recorder<Void>().subscribe(to: upper.remove(all: [])).values.count == 1)
  }

  @Test func `writes that fail are named, and the others are carried out`() {
    for key in ["a", "c"] { upper.failChanges(of: key, with: Trouble()) }

    recorder.subscribe(to: upper.set(all: ["a": 1, "b": 2, "c": 3]))

    #expect(failures.keys.sorted() == ["a", "c"] && failures.values.allSatisfy { $0 is Trouble })
    #expect(upper.contents == ["b": 2])
    guard case CacheError.partlyWritten(_, 3)? = recorder.failure else {
      Issue.record("\(recorder.transcript)")
      return
    }
  }

  @Test func `the outcome waits for all, is replayed, and needs no subscriber`() {
    let slow = ["a": TestSource<Void>(), "b": TestSource<Void>()]
    let cache = AnyCache<String, Int>(
      get: { _ in .empty }, set: { _, key in slow[key]?.signal ?? .empty }, remove: { _ in .empty })
    let outcome = cache.set(all: ["a": 1, "b": 2])

    let leaver = Recorder<Void>().subscribe(to: outcome)
    leaver.dispose()
    recorder.subscribe(to: outcome)
    slow["a"]?.failed(Trouble())
    #expect(recorder.transcript == [])
    slow["b"]?.next(())
    slow["b"]?.completed()

    #expect(failures.keys.sorted() == ["a"])
    #expect(slow.values.allSatisfy { $0.subscriptions == 1 && $0.disposals == 0 })
  }

  @Test func `a set of several refuses an earlier fill and an earlier write of each`() {
    let (token, revision) = (FillToken(), Revision.next())
    upper.set(all: ["a": 1, "b": 2])

    _ = upper.apply(.fill("a", Stamped(9), token))
    _ = upper.apply(.remove("b", revision))

    #expect(upper.contents == ["a": 1, "b": 2])
  }

  @Test func `ten thousand failures need no stack, and the message names a few`() {
    let cache = AnyCache<Int, Int>(get: { _ in .empty }, set: { _, _ in .fail(Trouble()) })
    let values = Dictionary(uniqueKeysWithValues: (0..<10_000).map { ($0, $0) })

    recorder.subscribe(to: cache.set(all: values))

    #expect(failures.count == 10_000)
    #expect(recorder.failure.map { "\($0)".hasSuffix("; and 9997 more") } == true)
  }
}
