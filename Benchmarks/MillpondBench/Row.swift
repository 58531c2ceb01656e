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

  /// Measures; a failure is a sample too.
  func samples(_ run: Run, _ report: (Sample) -> Void) {
    do {
      try measure(run, report)
    } catch {
      let isAbsent = error is Absence
      report(
        Sample(
          name: name, summary: summary, unit: "", isSumRight: isAbsent, note: "\(error)"))
    }
  }
}

/// Something that a row needs and this machine lacks, which is no failure.
struct Absence: Error, CustomStringConvertible {
  let description: String
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

  /// - Throws: ``FileTrouble`` when it can't be made.
  init(in folder: String) throws(FileTrouble) {
    path = folder + "/millpond-bench-" + UUID().uuidString
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    } catch {
      throw FileTrouble(
        path: folder, reason: "can't make a folder there: \(error.localizedDescription)")
    }
  }

  /// Returns the path of an empty folder in it, in place of an existing one.
  func fresh(_ name: String) throws -> String {
    let new = path + "/" + name
    if FileManager.default.fileExists(atPath: new) {
      try FileManager.default.removeItem(atPath: new)
    }
    try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: false)
    return new
  }

  /// Removes the folder.
  func clear() {
    try? FileManager.default.removeItem(atPath: path)
  }
}

/// A failure to use a file.
struct FileTrouble: Error, CustomStringConvertible {
  let path: String
  let reason: String

  init(path: String, reason: String = String(cString: strerror(errno))) {
    (self.path, self.reason) = (path, reason)
  }

  var description: String { "\(path): \(reason)" }
}
