import Foundation

extension LogWriter {
  /// Waits until all earlier writes are on the device; of flushes that have waited for each other, the
  /// second finds its writes there.
  ///
  /// - Throws: An error after which it is unknown what has reached the device, so that the next call
  ///   tries all of it again.
  func synchronize() throws {
    if isMarkOnDevice, unsynchronized.segments.isEmpty, unsynchronized.files.isEmpty { return }
    for number in unsynchronized.files { try synchronize(FileName.value(number)) }
    for segment in unsynchronized.segments.values { try segment.file.synchronize() }
    if let last = parts.last, folder.hold == .kept, let mark = try openSyncMark() {
      try folder.synchronize()
      try mark.write(SyncMark.bytes(max(last.end, reached)))
      if !isMarkOnDevice { try mark.synchronize() }
      isMarkOnDevice = true
    } else {
      try folder.synchronize()
    }
    unsynchronized = ([:], [])
  }

  /// Opens the file with the mark, before the folder is synchronized, so that it exists as soon as
  /// a flush has succeeded.
  ///
  /// - Returns: The file; nil if the folder is read-only.
  private func openSyncMark() throws -> OpenFile? {
    do {
      return try folder.open(.syncMark, .sharing)
    } catch let error as POSIXError where error.isRefusalToWrite {
      return nil
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
    if isKeptOnDevice { try synchronize() }
  }
}
