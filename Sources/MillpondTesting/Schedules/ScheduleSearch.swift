#if MILLPOND_SCHEDULES
  import MillpondSignals

  /// The schedules of one check, by several strategies, and the shortest one that fails.
  struct ScheduleSearch {
    private let compose: (ScheduleProgram) -> Void
    private let effort: ScheduleEffort
    private var seen: Set<Int> = []
    private var result = ScheduleReport()

    /// The lines of the points, and whether another thread went on there.
    private var lines: [CodeLine: Bool] = [:]

    init(_ compose: @escaping (ScheduleProgram) -> Void, _ effort: ScheduleEffort) {
      self.compose = compose
      self.effort = effort
      ScheduledTasks.install
    }

    /// A schedule that fails.
    private struct Found {
      var schedule: Schedule
      var complaint: String
      var preemptions: Int
      var length: Int

      /// The number of calls of the whole program.
      var callCount: Int
    }

    mutating func report() -> ScheduleReport {
      if let found = find(effort, omitting: []) { result.failure = shortest(found) }
      result.distinctCount = seen.count
      result.places = Dictionary(lines.map { ("\($0)", $1) }) { $0 || $1 }
      return result
    }

    mutating func replay(_ schedule: Schedule) throws -> ScheduleFailure? {
      let strategy = RepeatedSchedule(schedule.switches)
      _ = strategy.beginNext()
      let run = run(strategy, schedule.points, omitting: schedule.omitted, isTraced: true)
      if strategy.isLost || run.length != schedule.length {
        throw ScheduleError.changed("\(schedule)")
      }
      return run.complaint.map {
        ScheduleFailure(
          complaint: $0, schedule: "\(schedule)", preemptions: run.preemptions, steps: run.lines)
      }
    }

    // MARK: Searching

    /// Returns the first schedule that fails.
    private mutating func find(_ effort: ScheduleEffort, omitting omitted: [Int]) -> Found? {
      for bound in 0...max(0, effort.preemptions) where effort.preemptions >= 0 {
        let search = PreemptionSearch(bound: bound)
        var left = effort.searchLimit
        var isComplete = false
        while left > 0 {
          guard search.beginNext() else {
            isComplete = true
            break
          }
          left -= 1
          if let found = attempt(search, Schedule.locks, omitted) { return found }
        }
        guard isComplete else { break }
        if omitted.isEmpty { result.completeBound = search.isCut ? bound : effort.preemptions }
        if !search.isCut { break }
      }
      let half = effort.randomCount / 2
      for strategy: any ScheduleStrategy in [
        PriorityWalk(seed: effort.seed, count: effort.randomCount - half, changeCount: 3),
        RandomWalk(seed: effort.seed, count: half),
      ] {
        while strategy.beginNext() {
          if let found = attempt(strategy, Schedule.all, omitted) { return found }
        }
      }
      return nil
    }

    private mutating func attempt(
      _ strategy: any ScheduleStrategy, _ points: SchedulePoints, _ omitted: [Int]
    ) -> Found? {
      let run = run(strategy, points, omitting: omitted, isTraced: false)
      if omitted.isEmpty {
        result.count += 1
        var hasher = Hasher()
        hasher.combine(points)
        hasher.combine(run.switches)
        seen.insert(hasher.finalize())
      }
      return run.complaint.map {
        Found(
          schedule: Schedule(
            points: points, switches: run.switches, omitted: omitted, length: run.length),
          complaint: $0, preemptions: run.preemptions, length: run.length,
          callCount: run.callCount)
      }
    }

    private typealias Result = (
      complaint: String?, switches: [ScheduleSwitch], preemptions: Int, length: Int,
      callCount: Int, lines: [String]
    )

    private mutating func run(
      _ strategy: any ScheduleStrategy, _ points: SchedulePoints, omitting omitted: [Int],
      isTraced: Bool
    ) -> Result {
      let program = ScheduleProgram()
      let run = ScheduledRun(strategy, points, isTraced: isTraced, lines: lines)
      var end = run.runAlone { [compose] in compose(program) }
      let callCount = program.threads.reduce(0) { $0 + $1.count }
      if end == .quiet { end = run.run(program.calls(without: omitted)) }
      var complaint = end.complaint
      // Each once: a check may go on with the program, such as by letting time pass.
      for check in program.checks where complaint == nil {
        end = run.runAlone { complaint = check() }
        complaint = complaint ?? end.complaint
      }
      if end == .quiet { _ = run.runAlone { program.removeAll() } }
      lines = run.lines
      return (
        complaint, run.switches, run.preemptions, run.length, callCount, run.trace?.lines ?? []
      )
    }

    // MARK: Shortening

    /// Returns the failure with the fewest calls, and then the fewest switches, that was found.
    private mutating func shortest(_ found: Found) -> ScheduleFailure {
      var best = found
      let quick = ScheduleEffort(
        preemptions: 2, searchLimit: 400, randomCount: 200, seed: effort.seed)
      for call in 0..<found.callCount {
        let omitted = best.schedule.omitted + [call]
        // One that fails in every order may lack what its checks expect.
        if let shorter = find(quick, omitting: omitted),
          shorter.preemptions > 0 || best.preemptions == 0 && shorter.complaint == best.complaint
        {
          best = shorter
        }
      }
      let thorough = ScheduleEffort(preemptions: 3, searchLimit: 3_000, randomCount: 0)
      if best.preemptions > 1, let simpler = find(thorough, omitting: best.schedule.omitted),
        simpler.preemptions < best.preemptions
      {
        best = simpler
      }
      for flip in best.schedule.switches {
        let others = best.schedule.switches.filter { $0 != flip }
        let strategy = RepeatedSchedule(others)
        _ = strategy.beginNext()
        let run = run(
          strategy, best.schedule.points, omitting: best.schedule.omitted, isTraced: false)
        guard let complaint = run.complaint, run.switches.count < best.schedule.switches.count
        else {
          continue
        }
        best.complaint = complaint
        best.schedule.switches = run.switches
        (best.preemptions, best.schedule.length) = (run.preemptions, run.length)
      }
      if let repeated = try? replay(best.schedule) { return repeated }
      return ScheduleFailure(
        complaint: best.complaint, schedule: "\(best.schedule)", preemptions: best.preemptions,
        steps: [
          "A second run of the schedule went another way, perhaps by the order of a dictionary."
        ])
    }
  }
#endif
