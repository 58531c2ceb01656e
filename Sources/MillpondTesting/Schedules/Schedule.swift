#if MILLPOND_SCHEDULES
  import MillpondSignals

  /// A schedule as text: where it may switch, the calls that are left out, the number of its points,
  /// and its switches.
  struct Schedule: CustomStringConvertible {
    static let locks: SchedulePoints = [.call, .lock]
    static let all: SchedulePoints = [.call, .lock, .load, .change]

    let points: SchedulePoints
    let switches: [ScheduleSwitch]
    let omitted: [Int]
    let length: Int

    init(points: SchedulePoints, switches: [ScheduleSwitch], omitted: [Int], length: Int) {
      self.points = points
      self.switches = switches
      self.omitted = omitted
      self.length = length
    }

    init?(_ text: String) {
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 4, let length = Int(parts[2]), ["locks", "all"].contains(parts[0]) else {
        return nil
      }
      let switches = parts[3].split(separator: " ").map { part -> ScheduleSwitch? in
        let numbers = part.split(separator: ">").map { Int($0) }
        guard numbers.count == 2, let step = numbers[0], let thread = numbers[1] else { return nil }
        return ScheduleSwitch(step: step, thread: thread)
      }
      let omitted = parts[1].split(separator: " ").map { Int($0) }
      guard !switches.contains(nil), !omitted.contains(nil) else { return nil }
      self.init(
        points: parts[0] == "locks" ? Self.locks : Self.all, switches: switches.compactMap { $0 },
        omitted: omitted.compactMap { $0 }, length: length)
    }

    var description: String {
      let omitted = omitted.map(String.init).joined(separator: " ")
      let switches = switches.map { "\($0.step)>\($0.thread)" }.joined(separator: " ")
      return "\(points == Self.locks ? "locks" : "all")/\(omitted)/\(length)/\(switches)"
    }
  }
#endif
