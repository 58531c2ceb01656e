#if MILLPOND_SCHEDULES
  import MillpondSignals
  import Runtime

  /// The steps of a schedule: its calls, and the places where threads stop for others.
  final class ScheduleTrace {
    private enum Step {
      case text(thread: Int, String)
      case stop(thread: Int, SchedulePoint?, Backtrace?)
    }

    private var steps: [Step] = []

    /// Adds a step.
    func add(_ thread: Int, _ text: String) {
      steps.append(.text(thread: thread, text))
    }

    /// Adds that the present thread stops here for another.
    func stop(_ thread: Int, _ point: SchedulePoint?) {
      steps.append(.stop(thread: thread, point, try? Backtrace.capture(limit: 48)))
    }

    /// The steps, a line each, with the places in the code.
    var lines: [String] {
      steps.map { step in
        switch step {
        case .text(let thread, let text): return "thread \(thread): \(text)"
        case .stop(let thread, let point, let place):
          let action =
            switch point {
            case .lock?: "before it takes a lock"
            case .load?: "before it reads an atomic value"
            case .change?: "before it changes an atomic value"
            case .yield?: "to yield"
            case nil: "for a lock that another thread has"
            }
          return "thread \(thread):     stops \(action)\(place.map(Self.describe) ?? "")"
        }
      }
    }

    /// Returns the innermost places outside of locks and schedules.
    private static func describe(_ place: Backtrace) -> String {
      let frames = place.symbolicated()?.frames ?? []
      let places = frames.lazy.compactMap { $0.symbol?.sourceLocation }
        .filter { location in
          !["/Schedules/", "/Locked.swift", "<compiler-generated>"].contains {
            location.path.contains($0)
          } && location.line > 0
        }
        .map { "\($0.path.split(separator: "/").last ?? ""):\($0.line)" }
      let text = places.prefix(3).joined(separator: " < ")
      return text.isEmpty ? "" : ", at \(text)"
    }
  }
#endif
