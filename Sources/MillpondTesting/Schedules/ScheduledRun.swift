#if MILLPOND_SCHEDULES
  import Dispatch
  import Foundation
  import MillpondSignals

  /// One schedule of a program, run by one thread at a time.
  ///
  /// Sendable because only the thread whose turn it is touches it, and passes the turn by a
  /// semaphore.
  final class ScheduledRun: @unchecked Sendable {
    private let strategy: any ScheduleStrategy
    private let points: SchedulePoints
    private let finished = DispatchSemaphore(value: 0)
    private var threads: [ScheduledThread] = []
    private var current = -1
    private var step = 0

    /// Whether no thread of the program runs, so that the order is always the same.
    private var isAlone = false

    /// The number of points passed.
    var length: Int { step }

    private(set) var switches: [ScheduleSwitch] = []
    private(set) var preemptions = 0
    private var end = ScheduleEnd.quiet

    /// The steps, if they are recorded.
    private(set) var trace: ScheduleTrace?

    /// The lines of the points, and whether another thread went on there.
    private(set) var lines: [CodeLine: Bool]

    init(
      _ strategy: any ScheduleStrategy, _ points: SchedulePoints, isTraced: Bool,
      lines: [CodeLine: Bool]
    ) {
      self.strategy = strategy
      self.points = points
      self.lines = lines
      trace = isTraced ? ScheduleTrace() : nil
    }

    /// Runs the threads until none has work left.
    func run(_ program: [[ScheduledCall]]) -> ScheduleEnd {
      for (number, calls) in program.enumerated() {
        add { [self] in
          for (place, call) in calls.enumerated() {
            // Others may go on here, also where a call has no point of its own.
            if place > 0 { pass(.call) }
            trace?.add(number, call.name)
            call.run()
            trace?.add(number, "\(call.name): returned")
          }
        }
      }
      return run()
    }

    /// Runs what comes before or after the threads, and the work that it hands over, in one order.
    ///
    /// These points don't count.
    func runAlone(_ body: @escaping () -> Void) -> ScheduleEnd {
      let (step, trace) = (step, trace)
      (self.step, self.trace, isAlone) = (0, nil, true)
      defer { (self.step, self.trace, isAlone) = (step, trace, false) }
      add(body)
      return run()
    }

    private func run() -> ScheduleEnd {
      goOn(isFree: true)
      if finished.wait(timeout: .now() + Self.patience) == .timedOut {
        return .stuck(thread: current)
      }
      for thread in threads where thread.state == .done { thread.release() }
      (threads, current) = ([], -1)
      return end
    }

    // MARK: Threads

    private func add(_ body: @escaping () -> Void) {
      let thread = ScheduledThread.take()
      threads.append(thread)
      thread.state = .ready
      thread.run = self
      thread.body = body
    }

    /// Returns the threads that can go on: the present one first; if it lets others go first, last,
    /// or only if there is no other.
    private func ready(presentIsLast: Bool) -> [Int] {
      var ready = threads.indices.filter { $0 != current && threads[$0].state == .ready }
      guard current >= 0, threads[current].state == .ready else { return ready }
      if !presentIsLast || ready.isEmpty {
        ready.insert(current, at: 0)
      } else if strategy.staysAtYields {
        ready.append(current)
      }
      return ready
    }

    /// Lets the strategy decide who goes on; returns when this thread does.
    ///
    /// - Parameters:
    ///   - isFree: Whether the present thread can't go on, or wants to let others go first.
    ///   - point: What the present thread is about to do; nil if it waits or has ended.
    fileprivate func goOn(isFree: Bool, at point: SchedulePoint? = nil) {
      let present = current
      let ready = ready(presentIsLast: isFree)
      step += 1
      guard let first = ready.first, step <= Self.limit else { return giveUp() }
      var next = first
      if ready.count > 1, !isAlone {
        next = ready[strategy.choose(ready, isFree: isFree, step: step)]
        if next != first {
          switches.append(ScheduleSwitch(step: step, thread: next))
          if !isFree { preemptions += 1 }
        }
      }
      note(isSwitch: next != present)
      if next == present { return }
      current = next
      // The list of threads belongs to the next one from its signal on.
      let (own, other) = (present >= 0 ? threads[present] : nil, threads[next])
      guard let own, own.state != .done else {
        other.turn.signal()
        return
      }
      trace?.stop(present, point)
      other.turn.signal()
      own.turn.wait()
    }

    /// Notes whether another thread goes on at the line of the present one.
    private func note(isSwitch: Bool) {
      guard !isAlone, current >= 0, let line = threads[current].line, lines[line] != true else {
        return
      }
      lines[line] = isSwitch
    }

    /// Ends the schedule: all is quiet, or no thread may go on.
    private func giveUp() {
      if step > Self.limit {
        end = .endless(thread: current)
      } else if threads.contains(where: { $0.state != .done }) {
        if threads[current].state == .waiting { trace?.stop(current, nil) }
        end = .deadlock(waiting)
      }
      let isLost = end != .quiet && threads[current].state != .done
      finished.signal()
      // What can't go on is given up with its thread.
      if isLost { DispatchSemaphore(value: 0).wait() }
    }

    private var waiting: [String] {
      threads.enumerated().compactMap { number, thread in
        guard thread.state == .waiting else { return nil }
        let holder = thread.awaited.map { "\(type(of: $0))" } ?? "nothing"
        return "thread \(number) waits for a \(holder)"
      }
    }

    // MARK: Points

    fileprivate func pass(_ point: SchedulePoint, at line: CodeLine? = nil) {
      let isYielding = point == .yield
      guard isYielding || points.contains(point) else { return }
      threads[current].line = line
      goOn(isFree: isYielding, at: point)
    }

    fileprivate func wait(for object: AnyObject) {
      threads[current].state = .waiting
      threads[current].awaited = object
      goOn(isFree: true)
    }

    fileprivate func wake(_ object: AnyObject) {
      for thread in threads where thread.state == .waiting && thread.awaited === object {
        thread.state = .ready
        thread.awaited = nil
      }
    }

    fileprivate func fork(_ body: @escaping @Sendable () -> Void) {
      trace?.add(current, "hands work to thread \(threads.count)")
      add(body)
    }

    fileprivate func ended() {
      threads[current].state = .done
      threads[current].line = nil
      trace?.add(current, "ends")
      goOn(isFree: true)
    }

    /// The number of points after which a program counts as endless.
    private static let limit = 20_000

    /// The time after which a thread that reaches no point counts as blocked elsewhere.
    private static let patience = DispatchTimeInterval.seconds(20)
  }

  /// A thread of the process that runs logical threads, one after the other.
  ///
  /// Sendable for the same reason as the run.
  final class ScheduledThread: @unchecked Sendable {
    enum State { case ready, waiting, done }

    let turn = DispatchSemaphore(value: 0)
    var state = State.ready
    var body: () -> Void = {}

    /// The line of the latest point.
    var line: CodeLine?
    var run: ScheduledRun?

    /// The lock that the thread waits for.
    var awaited: AnyObject?

    private nonisolated(unsafe) static var idle: [ScheduledThread] = []

    /// Returns an idle thread; one program at a time is run, so nobody else takes it.
    static func take() -> ScheduledThread {
      idle.popLast() ?? ScheduledThread()
    }

    func release() {
      run = nil
      Self.idle.append(self)
    }

    private init() {
      let thread = Thread { [self] in
        LogicalThread(
          pass: { [unowned self] in run?.pass($0, at: $1) },
          wait: { [unowned self] in run?.wait(for: $0) },
          wake: { [unowned self] in run?.wake($0) }, fork: { [unowned self] in run?.fork($0) },
          schedule: { [unowned self] in run.map(ObjectIdentifier.init) }
        ).adopt()
        while true {
          turn.wait()
          // Here is where the work, and with it perhaps a cache, is released.
          exchange(&body, with: {})()
          run?.ended()
        }
      }
      thread.stackSize = 1 << 20
      thread.start()
    }
  }

  /// The end of a schedule.
  enum ScheduleEnd: Equatable {
    case quiet
    case deadlock([String])
    case endless(thread: Int)
    case stuck(thread: Int)

    /// The complaint; nil if all is well.
    var complaint: String? {
      switch self {
      case .quiet: nil
      case .deadlock(let waiting): "no thread can go on: \(waiting.joined(separator: ", "))"
      case .endless(let thread): "thread \(thread) still goes on after 20,000 points"
      case .stuck(let thread):
        "thread \(thread) reaches no point: it waits by other means than the library's"
      }
    }
  }

  /// The points at which a schedule may switch.
  typealias SchedulePoints = Set<SchedulePoint>
#endif
