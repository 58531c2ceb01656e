import Foundation

/// The repetition of a row that is shown.
enum Figure {
  /// The repetition with the least disturbance.
  case best

  /// The median, for threads that contend: in their best repetition they hardly collided.
  case median
}

extension Sample {
  /// Measures works by turns, so many operations each: the first is ours, the others are floors.
  ///
  /// - Parameter clock: Returns a time in seconds: that of the world, or of the processor.
  mutating func measure(
    _ works: [Work], _ operations: Int, repetitions: Int, _ figure: Figure = .best,
    clock: () -> Double = wallSeconds
  ) throws {
    let units: [String: Double] = ["ns": 1e9, "µs": 1e6, "ms": 1e3]
    let unitsPerSecond = units[unit] ?? 1
    var times = works.map { _ in [Double]() }
    for round in 0..<repetitions {
      // The first alternates, so that none always profits from the other's turn.
      let turns = round.isMultiple(of: 2) ? Array(works.indices) : works.indices.reversed()
      for turn in turns {
        let work = works[turn]
        let operations = min(work.few ?? operations, operations)
        try work.prepare()
        let start = clock()
        let sum = try work.run(operations)
        times[turn].append((clock() - start) * unitsPerSecond / Double(operations))
        isSumRight = try sum == work.expected(operations) && isSumRight
      }
    }
    let figures = times.map { times in
      figure == .best ? times.min() : times.sorted()[times.count / 2]
    }
    value = figures.first ?? nil
    floors = zip(works, figures).dropFirst().map { Floor(name: $0.name, value: $1) }
  }
}

func wallSeconds() -> Double { seconds(CLOCK_MONOTONIC) }

/// Returns the time that processors have spent on this process.
func processorSeconds() -> Double { seconds(CLOCK_PROCESS_CPUTIME_ID) }

/// Returns the time that processors have spent on this thread.
func threadSeconds() -> Double { seconds(CLOCK_THREAD_CPUTIME_ID) }

private func seconds(_ clock: clockid_t) -> Double {
  var time = timespec()
  clock_gettime(clock, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
