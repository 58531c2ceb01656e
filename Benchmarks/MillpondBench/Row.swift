import Foundation

/// Something that is measured: a line of the table, or several that come from one run.
struct Row {
  /// The name, with which the names of its samples begin.
  let name: String
  let summary: String

  /// Measures, and passes on each sample as soon as it is known.
  let measure: (Run, _ report: (Sample) -> Void) throws -> Void

  init(
    _ name: String, _ summary: String,
    samples measure: @escaping (Run, _ report: (Sample) -> Void) throws -> Void
  ) {
    (self.name, self.summary, self.measure) = (name, summary, measure)
  }

  /// Creates a row of one sample.
  ///
  /// - Parameter measure: Fills in the figures of a sample.
  init(
    _ name: String, _ summary: String, unit: String = "ns", _ targets: [Target] = [],
    measure: @escaping (Run, inout Sample) throws -> Void
  ) {
    self.init(name, summary) { run, report in
      var sample = Sample(name: name, summary: summary, unit: unit, targets: targets)
      try measure(run, &sample)
      report(sample)
    }
  }

  /// Creates a row of the time of works, of which the first is ours, and the others are floors.
  ///
  /// - Parameter works: Makes the works, and the number of operations of each.
  init(
    _ name: String, _ summary: String, unit: String = "ns", _ targets: [Target] = [],
    repetitions: Int, _ figure: Figure = .best, clock: @escaping () -> Double = wallSeconds,
    works: @escaping (Run) throws -> ([Work], operations: Int)
  ) {
    self.init(name, summary, unit: unit, targets) { run, sample in
      let (works, operations) = try works(run)
      try sample.measure(
        works, operations, repetitions: run.count(repetitions, quick: 2), figure, clock: clock)
    }
  }

  /// Measures; a failure is a sample too.
  func samples(_ run: Run, _ report: (Sample) -> Void) {
    do {
      try measure(run, report)
    } catch {
      let isAbsence = (error as? Trouble)?.isAbsence ?? false
      report(
        Sample(name: name, summary: summary, unit: "", isSumRight: isAbsence, note: "\(error)"))
    }
  }
}

/// The circumstances of a run.
struct Run {
  /// Whether sums are checked, by little work, and figures mean little.
  let isQuick: Bool

  /// The folder for files.
  let folder: WorkFolder

  /// The folder of recorded traces; nil for generated ones.
  var traces: String?

  /// Returns a number of things, or a small one in a quick run.
  func count(_ full: Int, quick: Int) -> Int {
    isQuick ? quick : full
  }
}

/// The working folder of one run.
struct WorkFolder: Sendable {
  let path: String

  /// - Throws: When it can't be made.
  init(in folder: String) throws {
    path = folder + "/millpond-bench-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  /// Returns the path of an empty folder in it, in place of an existing one.
  func fresh(_ name: String) throws -> String {
    let new = path + "/" + name
    try? FileManager.default.removeItem(atPath: new)
    try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: false)
    return new
  }

  /// Removes the folder.
  func clear() {
    try? FileManager.default.removeItem(atPath: path)
  }
}

/// A mistake in the arguments, a file that can't be used, or something that this machine lacks.
struct Trouble: Error, CustomStringConvertible {
  let description: String

  /// Whether a row needs what the machine lacks, which is no failure.
  let isAbsence: Bool

  init(_ description: String, isAbsence: Bool = false) {
    (self.description, self.isAbsence) = (description, isAbsence)
  }

  /// Creates the failure of the last system call on a file.
  init(path: String) {
    self.init("\(path): \(String(cString: strerror(errno)))")
  }
}
