import Foundation

extension LogWriter {
  /// Begins a segment of its own for a removal of everything, so that all before it can go.
  ///
  /// - Returns: The segment, which is empty.
  func openErasingSegment() throws -> LogContents.Part {
    if let last = parts.last, last.size > 0 { isLastOpen = false }
    let part = try openSegment()
    erasedBefore = max(erasedBefore, part.segment.number)
    return part
  }

  /// Whether segments are left from before the last removal of everything.
  var isErasing: Bool {
    parts.first.map { $0.segment.number < erasedBefore } ?? false
  }

  /// Removes every byte from before the last removal of everything: segments, and files that no entry
  /// needs.
  ///
  /// The removal is on the device before anything goes, and what went has gone from there at the end: a
  /// power cut brings nothing back either.
  ///
  /// - Parameter held: Files that are lent, or being written.
  func erase(sparing held: Set<UInt64>) throws {
    guard folder.isHeld, !folder.isLost else { throw POSIX.failure(.EBADF, folder.path) }
    if let last = parts.last { try last.segment.file.synchronize() }
    while isErasing, let oldest = parts.first {
      // What was written later, but not behind the removal, is written again.
      if state.withLock({ $0.index.hasSpots(in: oldest.segment.number) }) {
        try compactStep(oldest)
      } else {
        try removeOldest()
      }
    }
    try sweep(sparing: held.union(state.withLock { $0.index.files }))
    try folder.synchronize()
  }

  /// Removes the files of values that nobody needs, and those of which nobody knows.
  private func sweep(sparing needed: Set<UInt64>) throws {
    let present = Set(parts.map { UInt64($0.segment.number) })
    for text in try folder.files.namesInFolder(folder.path) {
      switch FileName(text) {
      case .value(let number) where !needed.contains(number),
        .unfinished(let number) where !needed.contains(number),
        .segment(let number) where number < UInt64(erasedBefore) && !present.contains(number):
        try folder.files.remove(folder.path(of: text))
      case .value, .unfinished, .segment, .index, .syncMark, nil: break
      }
    }
  }
}

extension DiskIndex {
  /// Whether any entry lies in a segment.
  ///
  /// - Complexity: O(*n*); there are few entries right after a removal of everything.
  fileprivate func hasSpots(in segment: UInt32) -> Bool {
    var isFound = false
    order.forEach { slot in
      if !spots[slot].isNowhere, spots[slot].segment == segment { isFound = true }
    }
    return isFound
  }

  /// The files that entries have, or that are lent.
  fileprivate var files: Set<UInt64> {
    var files = Set(largeValues.values.map(\.number)).union(leases.keys)
    for telling in tellings { if let file = telling?.file { files.insert(file.number) } }
    return files
  }
}
