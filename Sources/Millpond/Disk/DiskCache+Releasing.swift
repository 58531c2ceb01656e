import MillpondCore
public import MillpondSignals

extension DiskCache {
  /// Releases the folder until the next use of this cache, so that another process can open it
  /// meanwhile: an app that is about to be suspended, or an extension whose work is done.
  ///
  /// All earlier writes are on disk then, and no file is locked. The next get or write opens the
  /// folder again, with what the other process has stored; while the other one has it, they fail
  /// with `CacheError.inUse(layer:)`. Pieces that are being stored (``storing(_:for:)``) fail, and
  /// so do downloads, of which ``PartialTransfers`` keep what has come. Other caches of the folder
  /// in this process keep it until they are released too. <doc:AppGroups> has the whole.
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @discardableResult
  public func release() -> Signal<Void> { access.release() }

  /// Releases the folder, and returns when another process can open it: the form for asynchronous
  /// code.
  ///
  /// - Throws: `CancellationError` if the task is cancelled; the folder is released even so.
  public nonisolated(nonsending) func release() async throws {
    try await release().value
  }
}

extension DiskCache {
  /// Returns the outcome of a write that is carried out at once if the folder is open.
  ///
  /// - Parameters:
  ///   - store: The store, if it is open.
  ///   - time: The place of the write in the order of all writes; for a fill, that of its get.
  ///   - write: Carries it out; receives whether it has waited.
  func carryOut(
    by store: DiskStore?, _ time: Revision,
    _ write: @escaping @Sendable (_ store: DiskStore, _ waits: Bool) -> Signal<Void>
  ) -> Signal<Void> {
    if let store {
      let outcome = write(store, false)
      // If another thread releases the folder meanwhile, the store may carry out nothing more.
      if !access.hasReleased(store) { return outcome }
    }
    return onceOpen(time) { write($0, true) }
  }

  /// Returns the outcome of a write that is carried out as soon as the folder is open.
  ///
  /// - Parameters:
  ///   - time: The place of the write in the order of all writes; for a fill, that of its get.
  ///   - write: Carries it out.
  private func onceOpen(
    _ time: Revision, _ write: @escaping @Sendable (DiskStore) -> Signal<Void>
  ) -> Signal<Void> {
    // Until it is carried out, no store of the folder forgets a later write.
    let pending = PendingWrite(time)
    // Captures only the access: an outcome that a caller keeps must not keep the folder in use.
    return Signal { [access] observer, lifetime in
      access.use(for: observer) { store in
        let outcome = write(store)
        pending.end()
        outcome.run(observer, lifetime)
      }
    }.started()
  }
}
