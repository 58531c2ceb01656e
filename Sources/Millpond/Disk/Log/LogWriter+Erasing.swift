import Foundation

/// Removals of everything, after which no byte of it is left on the device.
extension LogWriter {
  /// Begins a new segment for a removal of everything, so that all segments before it can be
  /// removed.
  ///
  /// - Returns: The segment, which is empty.
  func openErasingSegment() throws -> LogContents.Part {
    if let last = parts.last, last.size > 0 { isLastOpen = false }
    let part = try openSegment()
    erasedBefore = max(erasedBefore, part.segment.number)
    return part
  }

  /// Whether there are segments from before the last removal of everything.
  var isErasing: Bool { parts.first.map { $0.segment.number < erasedBefore } ?? false }

  /// Removes all bytes from before the last removal of everything: the checkpoint, segments, and
  /// files that no entry needs.
  ///
  /// The removal is on the device before anything is removed, and the files are gone from the
  /// device at the end, so a power cut brings nothing back.
  ///
  /// - Parameter streamed: Returns the files of the values that are being streamed.
  func erase(sparing streamed: () -> Set<UInt64>) throws {
    guard folder.hold == .kept else { throw CLibrary.failure(.EBADF, folder.path) }
    if let last = parts.last { try last.segment.file.synchronize() }
    // The checkpoint tells which keys there were. It goes first: without it the next opening finds
    // the removal in the log, and repeats all of this if the process dies before the end.
    try folder.remove(.index)
    (indexBytes, uncheckedBytes) = (0, max(uncheckedBytes, logBytes))
    // Later records that are not behind the removal are copied. No more of them come into these
    // segments, which are written no longer.
    var needed: Set<UInt32> = []
    if isErasing { needed = Set(state.withLock { $0.index.entries }.map(\.location.segment)) }
    while isErasing, let oldest = parts.first {
      if needed.contains(oldest.segment.number) {
        try compactStep(oldest)
      } else {
        try removeOldest()
      }
    }
    try sweep(sparing: streamed)
    try folder.synchronize()
  }

  /// Removes the files of values that no entry needs, and files of the store that are unknown.
  private func sweep(sparing streamed: () -> Set<UInt64>) throws {
    let present = Set(parts.map { UInt64($0.segment.number) })
    let names = try folder.fileNames()
    // In this order: a copy or a link is leased before it exists, and a stream is known before its
    // file exists, and leaves the streamed ones only when its value is in the index.
    let needed = streamed().union(state.withLock { $0.index.files })
    for name in names {
      switch name {
      case .value(let number) where !needed.contains(number),
        .unfinished(let number) where !needed.contains(number),
        .link(let number, _) where !needed.contains(number),
        .segment(let number) where number < UInt64(erasedBefore) && !present.contains(number):
        try folder.remove(name)
      case .value, .unfinished, .link, .segment, .index, .syncMark: break
      }
    }
  }
}

extension DiskIndex {
  /// The files that entries have, or that are leased.
  fileprivate var files: Set<UInt64> {
    var files = Set(largeValues.values.map(\.number)).union(leases.keys)
    pending.forEach { _, writes in
      for write in (writes?.earlier ?? []) + [writes?.latest] {
        if let file = write?.file { files.insert(file.number) }
      }
      return true
    }
    return files
  }
}
