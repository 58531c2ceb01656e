#if MILLPOND_SCHEDULES
  import MillpondSignals

  /// The steps of a schedule: its calls, and the places where threads stop for others.
  final class ScheduleTrace {
    private enum Step {
      case text(thread: Int, String)
      case stop(thread: Int, SchedulePoint?, CodePlace?)
    }

    private var steps: [Step] = []

    /// Adds a step.
    func add(_ thread: Int, _ text: String) {
      steps.append(.text(thread: thread, text))
    }

    /// Adds that the present thread stops here for another.
    func stop(_ thread: Int, _ point: SchedulePoint?) {
      steps.append(.stop(thread: thread, point, CodePlace()))
    }

    /// The steps, a line each, with the places in the code.
    var lines: [String] {
      steps.map { step in
        switch step {
        case .text(let thread, let text): return "thread \(thread): \(text)"
        case .stop(let thread, let point, let place):
          let action =
            switch point {
            case .call?: "before its next call"
            case .lock?: "before it takes a lock"
            case .load?: "before it reads an atomic value"
            case .change?: "before it changes an atomic value"
            case .yield?: "to yield"
            case nil: "for a lock that another thread has"
            }
          return "thread \(thread):     stops \(action)\(place.map { "\($0)" } ?? "")"
        }
      }
    }
  }
#endif
