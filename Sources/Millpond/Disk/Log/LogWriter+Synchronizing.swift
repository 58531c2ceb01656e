import Dispatch
import Foundation

extension LogWriter {
  /// Waits until all that has been written is on the device.
  ///
  /// Any thread.
  func synchronize() throws {
    try synchronizing.sync {
      let (segments, files) = state.withLock { $0.takeUnsynchronized() }
      do {
        for number in files { try synchronize(FileName.value(number)) }
        for segment in segments { try segment.file.synchronize() }
        try folder.synchronize()
      } catch {
        // Nobody knows what has got there: the next one tries all of it again.
        state.withLock { $0.noteUnsynchronized(segments, files) }
        throw error
      }
    }
  }

  private func synchronize(_ name: FileName) throws {
    let path = folder.path(of: name.text)
    guard try folder.files.status(path) != nil else { return }
    try folder.files.open(path, .updating).synchronize()
  }

  /// Before something is removed that is on the device: what came instead of it has to be there.
  func synchronizeIfRelied() throws {
    if state.withLock({ $0.isKeptOnDevice }) { try synchronize() }
  }
}
