import Dispatch
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct DeliveredOnQueueTests {
  let queue = DispatchQueue(label: "delivered")
  let mark = DispatchSpecificKey<Bool>()

  init() {
    queue.setSpecific(key: mark, value: true)
  }

  @Test func `all that is answered is delivered on the queue, also what is there at once`()
    async throws
  {
    let memory = MemoryCache<String, Int>(countLimit: 5)
    memory.set(1, for: "a")
    let cache = memory.delivered(on: queue)
    let places = Recorder<Bool>()
    let pipe = PublishSubject<Bool>()
    places.subscribe(to: pipe.signal)

    let recorder = Recorder<Int>().subscribe(to: cache.get("a")) { [mark] _ in
      pipe.next(DispatchQueue.getSpecific(key: mark) ?? false)
    }

    try await recorder.ended()
    #expect(try await places.values(count: 2) == [true, true])
    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(cache.now("a", Lookup()) == nil)
  }

  @Test func `writes are carried out at once`() {
    let memory = MemoryCache<String, Int>(countLimit: 5)

    memory.delivered(on: queue).set(1, for: "a")

    #expect(memory.now("a", Lookup()) == 1)
  }
}
