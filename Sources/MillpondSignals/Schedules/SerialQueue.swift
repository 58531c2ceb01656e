package import Dispatch

#if MILLPOND_SCHEDULES
  /// A serial queue whose work is a thread of the caller's schedule.
  ///
  /// On a thread that belongs to no schedule it is a queue of Dispatch.
  package final class SerialQueue: Sendable {
    private let queue: DispatchQueue
    private let state = Locked(State())

    private struct State: Sendable {
      var waiting: [@Sendable () -> Void] = []

      /// The schedule whose thread does the work; one that was given up never ends it.
      var schedule: ObjectIdentifier?
    }

    package init(
      label: String, qos: DispatchQoS = .unspecified,
      autoreleaseFrequency: DispatchQueue.AutoreleaseFrequency = .inherit
    ) {
      queue = DispatchQueue(label: label, qos: qos, autoreleaseFrequency: autoreleaseFrequency)
    }

    /// Enqueues `work`, after the work of this schedule that waits.
    package func async(execute work: @escaping @Sendable () -> Void) {
      guard let thread = LogicalThread.current else { return queue.async(execute: work) }
      let schedule = thread.schedule()
      let (isIdle, former) = state.withLock { state in
        let isIdle = state.schedule != schedule
        let former = isIdle ? state.waiting : []
        state.waiting.removeFirst(former.count)
        state.waiting.append(work)
        state.schedule = schedule
        return (isIdle, former)
      }
      withExtendedLifetime(former) {}
      if isIdle { thread.fork { self.drain() } }
    }

    /// Enqueues `work`, which keeps `group` from being idle until it is done.
    package func async(group: WaitGroup, execute work: @escaping @Sendable () -> Void) {
      group.enter()
      async {
        work()
        group.leave()
      }
    }

    /// Runs `work` on this thread in its turn, while the queue waits.
    package func sync<Result>(execute work: () throws -> Result) rethrows -> Result {
      guard let thread = LogicalThread.current else { return try queue.sync(execute: work) }
      let turn = Turn()
      async {
        turn.hasCome = true
        turn.wakeOther()
        while !turn.isOver { LogicalThread.current?.wait(turn) }
      }
      while !turn.hasCome { thread.wait(turn) }
      defer {
        turn.isOver = true
        turn.wakeOther()
      }
      return try work()
    }

    package func setSpecific<Value: Sendable>(key: DispatchSpecificKey<Value>, value: Value?) {
      queue.setSpecific(key: key, value: value)
    }

    /// The value of the queue whose work the caller is.
    package static func getSpecific<Value: Sendable>(key: DispatchSpecificKey<Value>) -> Value? {
      guard let thread = LogicalThread.current else { return DispatchQueue.getSpecific(key: key) }
      return thread.queue?.getSpecific(key: key)
    }

    private func drain() {
      LogicalThread.current?.queue = queue
      while let work = takeNext() { work() }
      LogicalThread.current?.queue = nil
    }

    private func takeNext() -> (@Sendable () -> Void)? {
      state.withLock { state in
        guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
        state.schedule = nil
        return nil
      }
    }

    /// Sendable because logical threads run one at a time.
    private final class Turn: @unchecked Sendable {
      var hasCome = false
      var isOver = false

      func wakeOther() { LogicalThread.current?.wake(self) }
    }
  }

  /// A count of the work under way, as a dispatch group's.
  package final class WaitGroup: Sendable {
    private let state = Locked((count: 0, waiting: [@Sendable () -> Void]()))

    package init() {}

    package func enter() { state.withLock { $0.count += 1 } }

    package func leave() {
      let ready = state.withLock { state in
        state.count -= 1
        return state.count == 0 ? exchange(&state.waiting, with: []) : []
      }
      for enqueue in ready { enqueue() }
    }

    /// Enqueues `work` as soon as nothing is under way.
    package func notify(queue: SerialQueue, execute work: @escaping @Sendable () -> Void) {
      let isIdle = state.withLock { state in
        if state.count > 0 { state.waiting.append { queue.async(execute: work) } }
        return state.count == 0
      }
      if isIdle { queue.async(execute: work) }
    }
  }
#else
  /// A serial queue; in a build with schedules, its work is a thread of them.
  package typealias SerialQueue = DispatchQueue

  /// A count of the work under way; in a build with schedules, without Dispatch.
  package typealias WaitGroup = DispatchGroup
#endif
