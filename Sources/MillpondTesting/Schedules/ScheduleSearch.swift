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

    /// One run of a program.
    private struct Outcome {
      let schedule: Schedule

      /// The complaint of a check, or of the search; nil if all is well.
      let complaint: String?
      let preemptions: Int

      /// The number of calls of the whole program.
      let callCount: Int

      /// The steps, if they are recorded.
      let lines: [String]
    }

    mutating func report() -> ScheduleReport {
      if let found = find(effort, omitting: []) { result.failure = shortest(found) }
      result.distinctCount = seen.count
      result.places = Dictionary(lines.map { ("\($0)", $1) }) { $0 || $1 }
      return result
    }

    mutating func replay(_ schedule: Schedule) throws -> ScheduleFailure? {
      let strategy = RepeatedSchedule(schedule.switches)
      let run = run(strategy, schedule.points, omitting: schedule.omitted, isTraced: true)
      if strategy.isLost || run.schedule.length != schedule.length {
        throw ScheduleError.changed("\(schedule)")
      }
      return run.complaint.map {
        ScheduleFailure(
          complaint: $0, schedule: "\(schedule)", preemptions: run.preemptions, steps: run.lines)
      }
    }

    // MARK: Searching

    /// Returns the first schedule that fails.
    private mutating func find(
      _ effort: ScheduleEffort, omitting omitted: [Int]
    ) -> Outcome? {
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
    ) -> Outcome? {
      let run = run(strategy, points, omitting: omitted, isTraced: false)
      if omitted.isEmpty {
        result.count += 1
        seen.insert("\(run.schedule)".hashValue)
      }
      return run.complaint == nil ? nil : run
    }

    private mutating func run(
      _ strategy: any ScheduleStrategy, _ points: SchedulePoints, omitting omitted: [Int],
      isTraced: Bool
    ) -> Outcome {
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
      let schedule = Schedule(
        points: points, switches: run.switches, omitted: omitted, length: run.length)
      return Outcome(
        schedule: schedule, complaint: complaint, preemptions: run.preemptions,
        callCount: callCount, lines: run.trace?.lines ?? [])
    }

    // MARK: Shortening

    /// Returns the failure with the fewest calls, and then the fewest switches, that was found.
    private mutating func shortest(_ found: Outcome) -> ScheduleFailure? {
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
        let run = run(
          RepeatedSchedule(others), best.schedule.points, omitting: best.schedule.omitted,
          isTraced: false)
        let isSimpler = run.schedule.switches.count < best.schedule.switches.count
        if run.complaint != nil, isSimpler { best = run }
      }
      if let repeated = try? replay(best.schedule) { return repeated }
      return best.complaint.map {
        ScheduleFailure(
          complaint: $0, schedule: "\(best.schedule)", preemptions: best.preemptions,
          steps: [
            "A second run of the schedule went another way, perhaps by the order of a dictionary."
          ])
      }
    }
  }
#endif
