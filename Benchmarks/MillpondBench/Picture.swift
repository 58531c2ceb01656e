import Foundation

extension BarChart {
  /// Draws the table as bars: ours, and the floor below it.
  init(of rows: [Measurement]) {
    self.init(
      title: "Millpond: nanoseconds per operation, on a log scale",
      series: ["ours, and its ratio to the floor", "the floor of the same work"],
      targetName: "target",
      groups: rows.map { Group(label: $0.name, bars: $0.bars, target: $0.target) })
  }
}

extension Measurement {
  /// One bar for a floor, two for any other row: ours, and its floor.
  fileprivate var bars: [BarChart.Bar] {
    let note = isSumRight ? String(format: "(%.1f×)", ratio) : "WRONG SUM"
    if isFloor { return [.init(series: 1, value: nanoseconds, note: isSumRight ? "" : note)] }
    return [
      .init(series: 0, value: nanoseconds, note: note),
      .init(series: 1, value: baselineNanoseconds, note: baseline),
    ]
  }
}

/// The file that a picture will be written to.
struct PictureFile {
  private let path: String

  /// Checks that the file can be written, without changing it.
  ///
  /// - Throws: ``PictureError`` when it can't.
  init(_ path: String) throws(PictureError) {
    self.path = path
    let wasThere = access(path, F_OK) == 0
    close(try Self.open(path, O_WRONLY | O_CREAT))
    if !wasThere { unlink(path) }
  }

  /// Replaces the contents of the file.
  func write(_ picture: String) throws(PictureError) {
    let file = FileHandle(
      fileDescriptor: try Self.open(path, O_WRONLY | O_CREAT | O_TRUNC), closeOnDealloc: true)
    do {
      try file.write(contentsOf: Data(picture.utf8))
    } catch {
      throw PictureError(path: path, reason: "\(error.localizedDescription)")
    }
  }

  private static func open(_ path: String, _ flags: Int32) throws(PictureError) -> Int32 {
    let descriptor = Foundation.open(path, flags, 0o644)
    if descriptor < 0 { throw PictureError(path: path, reason: String(cString: strerror(errno))) }
    return descriptor
  }
}

/// A failure to write a picture.
struct PictureError: Error, CustomStringConvertible {
  let path: String
  let reason: String

  var description: String {
    "can't write the picture to \(path): \(reason)"
  }
}
