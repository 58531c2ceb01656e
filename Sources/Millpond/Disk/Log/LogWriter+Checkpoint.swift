import Foundation

extension LogWriter {
  /// Writes down where everything is, if much has been written since that was done.
  ///
  /// - Returns: Whether there was something to do.
  func checkpointIfDue() -> Bool {
    let count = state.withLock { $0.index.count }
    guard uncheckedBytes > max(4 << 20, count * DiskLimits.indexSize * 4) else { return false }
    checkpoint()
    return true
  }

  /// Writes down where everything is, if that is not what was written down last.
  ///
  /// What goes wrong costs time at the next opening, and nothing else.
  func checkpoint() {
    let uses = state.withLock { $0.index.statistics.hits }
    guard uncheckedBytes > 0 || uses != checkedUses, folder.isHeld, !folder.isLost,
      let last = parts.last
    else { return }
    // A checkpoint is believed: it tells of nothing that a power cut could take.
    guard (try? synchronizeIfRelied()) != nil else { return }
    uncheckedBytes = 0
    checkedUses = uses
    var checkpoint = Checkpoint(segment: last.segment.number, offset: UInt32(last.size))
    checkpoint.entries.reserveCapacity(state.withLock { $0.index.count })
    var walk = SpotWalk()
    // What is removed meanwhile is in it perhaps; its removal is written after the checkpoint's place.
    while state.withLock({ state in
      walk.step(state.index) { hash, spot, large in
        if let large {
          checkpoint.largeValues.append((checkpoint.entries.count, large.number, large.length))
        }
        checkpoint.entries.append((hash, spot))
      }
    }) {}
    let bytes = checkpoint.bytes
    let largeBytes = state.withLock { $0.index.largeBytes }
    guard logBytes + largeBytes + bytes.count + SyncMark.size <= limits.byteLimit else {
      // Of a very small limit; one that is there may be of a larger one.
      try? folder.files.remove(folder.path(of: FileName.index.text))
      indexBytes = 0
      return
    }
    let path = folder.path(of: FileName.unfinished(numbers.next()).text)
    do {
      let file = try folder.files.open(path, .making)
      try bytes.withUnsafeBytes { try file.write($0, at: 0) }
      try file.close()
      try folder.files.rename(path, to: folder.path(of: FileName.index.text))
      indexBytes = bytes.count
    } catch {
      try? folder.files.remove(path)
    }
  }
}
