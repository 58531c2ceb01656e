import Dispatch
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct PressureWatchTests {
  let files = MadeUpFiles()
  let clock = ManualClock()
  let queue = DispatchQueue(label: "looks")

  private func levels(_ interval: Duration = .seconds(1)) -> Signal<MemoryPressure?> {
    .levels(of: files.memory, checkingEvery: interval, Scheduler(clock), on: queue)
  }

  /// Records the notices, the first look included.
  private func watch(_ interval: Duration = .seconds(1)) -> Recorder<MemoryPressure?> {
    defer { queue.sync {} }
    return Recorder<MemoryPressure?>().subscribe(to: levels(interval))
  }

  /// Advances the clock by `time`, and waits for the look.
  private func look(after time: Duration = .seconds(1)) {
    clock.advance(by: time)
    queue.sync {}
  }

  @Test func `each reading is that of the files at its time`() {
    files.writeMachine(available: 50)
    let recorder = watch()

    for available in [8, 3, 3, 50] {
      files.writeMachine(available: available)
      look()
    }

    #expect(recorder.values == [nil, .warning, .critical, .critical, nil])
    recorder.dispose()
  }

  @Test(arguments: ["cgroup/a", "cgroup/unified/a"])
  func `a group of version 2 runs out of room`(folder: String) {
    files.writeMachine(available: 90)
    files.write("0::/a/b\n", to: "proc/self/cgroup")
    files.write("1000\n", to: "\(folder)/memory.max")
    files.write("inactive_file 100\n", to: "\(folder)/memory.stat")
    files.write("999\n", to: "\(folder)/memory.current")
    let recorder = watch()

    files.write("1000\n", to: "\(folder)/memory.current")
    look()
    files.write("max\n", to: "\(folder)/memory.max")
    look()

    #expect(recorder.values == [nil, .warning, nil])
    recorder.dispose()
  }

  @Test func `a group stalls`() {
    files.write("0::/a\n", to: "proc/self/cgroup")
    files.write(
      "some avg10=12.00 total=1\nfull avg10=3.00 total=1\n", to: "cgroup/a/memory.pressure")

    let recorder = watch()

    #expect(recorder.values == [.warning])
    recorder.dispose()
  }

  @Test func `without any reading it fails, and lists the files that were tried`() {
    files.write("garbage", to: "proc/meminfo")

    let recorder = watch()

    guard case CacheError.unavailable(let layer, let reason)? = recorder.failure else {
      Issue.record("\(recorder.transcript)")
      return
    }
    #expect(layer == "memory pressure" && recorder.values.isEmpty && clock.pendingCount == 0)
    #expect("\(reason)".contains("\(files.root)/proc/meminfo: does not state it"))
    #expect("\(reason)".contains("/proc/pressure/memory: No such file or directory"))
    #expect("\(reason)".contains("\(files.root)/cgroup/memory.max: "))
  }

  @Test func `a later look that finds nothing changes nothing`() {
    files.writeMachine(available: 8)
    let recorder = watch()

    files.delete("proc/meminfo")
    look()

    #expect(recorder.values == [.warning, .warning] && recorder.end == nil)
    recorder.dispose()
  }

  @Test func `disposal calls the next look off`() {
    files.writeMachine(available: 8)
    let recorder = watch()

    recorder.dispose()

    #expect(clock.pendingCount == 0)
  }

  @Test func `disposal inside a look's value is the last of it`() {
    files.writeMachine(available: 8)
    let recorder = Recorder<MemoryPressure?>()

    recorder.subscribe(to: levels()) { _ in recorder.dispose() }
    queue.sync {}

    #expect(clock.pendingCount == 0)
    look(after: .seconds(5))
    #expect(recorder.values == [.warning])
  }

  @Test func `all listeners share one watch, and the last one ends it`() {
    files.writeMachine(available: 50)
    let alerts = levels().alerts(repeatingEvery: .seconds(30), Scheduler(clock))
    let recorders = (0..<3).map { _ in Recorder<MemoryPressure>().subscribe(to: alerts) }
    queue.sync {}
    #expect(clock.pendingCount == 1)

    recorders[0].dispose()
    files.writeMachine(available: 8)
    look()

    #expect(recorders.map(\.values) == [[], [.warning], [.warning]])
    #expect(clock.pendingCount == 3)  // a look, and two reminders
    for recorder in recorders { recorder.dispose() }
    #expect(clock.pendingCount == 0)
  }

  @Test func `a cache is relieved when memory gets short, again if it stays so, and not after`() {
    files.writeMachine(available: 50)
    do {
      let alerts = levels().alerts(repeatingEvery: .seconds(2), Scheduler(clock))
      let cache = MemoryCache<String, Int>(countLimit: 5).onMemoryPressure(alerts)
      queue.sync {}
      files.writeMachine(available: 8)
      for removed in [true, false, true, false, true] {
        cache.set(1, for: "a")
        look()
        #expect((cache.count == 0) == removed)
      }
    }

    look(after: .seconds(10))

    #expect(clock.pendingCount == 0)
  }

  @Test func `no lookup runs on a task's thread, with any subscriber and any clock`()
    async throws
  {
    let clock = PlainClock()
    let levels = Signal.levels(
      of: files.memory, checkingEvery: .seconds(1), Scheduler(clock))
    files.writeMachine(available: 8)
    let onTask = Watched<[Bool]>([])
    let recorder = Recorder<MemoryPressure?>().subscribe(to: levels) { _ in
      onTask.change { $0.append(withUnsafeCurrentTask { $0 != nil }) }
    }

    for _ in 0..<2 {
      try await clock.manual.pending(count: 1)
      clock.manual.advance(by: .seconds(1))
    }

    try await onTask.wait(for: "three looks") { $0.count >= 3 }
    #expect(onTask.state == [false, false, false])
    recorder.dispose()
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `no interval is a short one`(interval: Duration) {
    files.writeMachine(available: 50)
    let recorder = watch(interval)

    look(after: .microseconds(999))
    #expect(recorder.values.count == 1)

    look(after: .microseconds(1))
    #expect(recorder.values.count == 2)
    recorder.dispose()
  }
}
