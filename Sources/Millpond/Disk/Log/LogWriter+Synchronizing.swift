import Foundation

extension LogWriter {
  /// Waits until all earlier writes are on the device.
  ///
  /// Any thread but those of the queue ``synchronizing``.
  func synchronize() throws { try synchronizing.sync { try synchronizeNow() } }

  /// Does the same, on the queue: flushes that have waited there for an earlier one find their writes
  /// on the device.
  func synchronizeNow() throws {
    let taken = state.withLock { $0.takeUnsynchronized() }
    if isMarkOnDevice, taken.segments.isEmpty, taken.files.isEmpty { return }
    do {
      for number in taken.files { try synchronize(FileName.value(number)) }
      for segment in taken.segments.values { try segment.file.synchronize() }
      // Before the folder, so that it exists as soon as a flush has succeeded.
      let isKept = taken.end != nil && folder.hold == .kept
      let mark = isKept ? try folder.open(.syncMark, .sharing) : nil
      try folder.synchronize()
      if let mark, let end = taken.end {
        try mark.write(SyncMark.bytes(end))
        if !isMarkOnDevice { try mark.synchronize() }
        isMarkOnDevice = true
      }
    } catch {
      // It is unknown what has reached the device, so the next call tries all of it again.
      state.withLock { $0.putBack(taken) }
      throw error
    }
  }

  private func synchronize(_ name: FileName) throws {
    do {
      try folder.open(name, .reading).synchronize()
    } catch let error as POSIXError where error.code == .ENOENT {
      return
    }
  }

  /// Synchronizes, if a flush to the device was ever made; called before anything is removed, so
  /// that its replacement is on the device.
  func synchronizeIfRelied() throws {
    if state.withLock({ $0.isKeptOnDevice }) { try synchronize() }
  }
}
