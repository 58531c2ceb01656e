import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct DeepFetchTests {
  /// A get under so many operators, disposed of at once; whether it was refused for the stack.
  private static func isRefused(_ get: Signal<Int>, depth: Int) -> Bool {
    var deep = get
    for _ in 0..<depth { deep = deep.map { $0 } }
    let recorder = Recorder<Int>().subscribe(to: deep)
    defer { recorder.dispose() }
    return recorder.failure != nil
  }

  @Test func `a key is not loading for ever after a fetch that was refused for the stack`() async {
    let users = TestOrigin<String, Int>().remembered(
      in: MemoryCache(countLimit: 9), FreshnessPolicy())
    let states = Recorder<ResourceState<Int>>().subscribe(to: users.states(of: "a"))
    let stuckAt = await withCheckedContinuation { (done: CheckedContinuation<Int?, Never>) in
      let thread = Thread {
        var (depth, refusals) = (0, 0)
        while refusals < 60, states.values.last?.isLoading == false {
          if Self.isRefused(users.get("a"), depth: depth) { refusals += 1 }
          depth += 1
        }
        done.resume(returning: refusals < 60 ? depth : nil)
      }
      thread.stackSize = 524_288
      thread.start()
    }

    #expect(stuckAt == nil)
  }
}
