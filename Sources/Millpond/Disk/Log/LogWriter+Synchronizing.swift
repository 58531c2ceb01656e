import Dispatch
import Foundation

extension LogWriter {
  /// Waits until all that has been written is on the device.
  ///
  /// Any thread.
  func synchronize() throws {
    try synchronizing.sync {
      let taken = state.withLock { $0.takeUnsynchronized() }
      do {
        for number in taken.files { try synchronize(FileName.value(number)) }
        for segment in taken.segments.values { try segment.file.synchronize() }
        let mark = try openSyncMark(taken.end)
        try folder.synchronize()
        if let end = taken.end {
          try SyncMark.bytes(end).withUnsafeBytes { try mark?.write($0, at: 0) }
        }
      } catch {
        // Nobody knows what has got there: the next one tries all of it again.
        state.withLock { $0.putBack(taken) }
        throw error
      }
    }
  }

  /// The file that says how far the log is on the device: made before the folder is synchronized, so
  /// that it is there as soon as something relies on it.
  ///
  /// - Returns: Nil where there is nothing to say, or the folder can only be read.
  private func openSyncMark(_ end: LogPosition?) throws -> OpenFile? {
    guard end != nil, folder.isHeld, !folder.isLost else { return nil }
    do {
      return try folder.files.open(folder.path(of: FileName.syncMark.text), .sharing)
    } catch let error as POSIXError where error.isRefusalToWrite {
      return nil
    }
  }

  /// Synchronizes a file, unless it has been removed meanwhile.
  private func synchronize(_ name: FileName) throws {
    do {
      try folder.files.open(folder.path(of: name.text), .reading).synchronize()
    } catch let error as POSIXError where error.code == .ENOENT {
      return
    }
  }

  /// Before something is removed that is on the device: what came instead of it has to be there.
  func synchronizeIfRelied() throws {
    if state.withLock({ $0.isKeptOnDevice }) { try synchronize() }
  }
}
