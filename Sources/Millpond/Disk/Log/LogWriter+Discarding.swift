import MillpondSignals

extension LogWriter {
  /// Removes files of large values that are not needed; lent files are removed later.
  func remove(_ files: [UInt64]) {
    if files.isEmpty { return }
    let files = state.withLock { $0.index.free(of: files) }
    unsynchronized.files.subtract(files)
    discard(files.map { .value($0) })
  }

  /// Removes files that nothing needs; those that can't be removed now are removed after a later
  /// write, or at the next opening.
  func discard(_ names: [FileName]) {
    let isPossible = canRemove
    needless += names.filter { !isPossible || (try? folder.remove($0)) == nil }
  }

  /// Removes what could not be removed before, as far as that succeeds now.
  func removeNeedless() {
    if !needless.isEmpty { discard(exchange(&needless, with: [])) }
  }

  /// Whether files may be removed now: their replacements are where they have to be.
  private var canRemove: Bool {
    folder.hold == .kept && (try? synchronizeIfRelied()) != nil
  }
}
