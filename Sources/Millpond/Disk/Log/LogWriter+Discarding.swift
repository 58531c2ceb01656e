import MillpondSignals

extension LogWriter {
  /// Removes files of large values that are not needed; lent files are removed later.
  func remove(_ files: [UInt64]) {
    if files.isEmpty { return }
    let files = state.withLock { state in
      let files = state.index.free(of: files)
      state.noteRemoved(files)
      return files
    }
    discard(files.map { .value($0) })
  }

  /// Removes files that nothing needs; those that can't be removed now are removed after a later
  /// write, or at the next opening.
  func discard(_ names: [FileName]) {
    let isPossible = canRemove
    for name in names where !isPossible || !isRemoved(name) { needless.append(name) }
  }

  /// Removes what could not be removed before, as far as that succeeds now.
  func removeNeedless() {
    guard !needless.isEmpty, canRemove else { return }
    for _ in 0..<needless.count {
      guard let name = needless.popFirst(), !isRemoved(name) else { continue }
      // Others may still go after the next write.
      return needless.append(name)
    }
  }

  /// Whether files may be removed now: their replacements are where they have to be.
  private var canRemove: Bool {
    folder.hold == .kept && (try? synchronizeIfRelied()) != nil
  }

  private func isRemoved(_ name: FileName) -> Bool { (try? folder.remove(name)) != nil }
}
