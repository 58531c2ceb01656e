public import MillpondSignals

/// The functions by which a ``Repository`` treats a member together with others.
///
///     let drafts = RepositoryMember(
///       flush: { .async { try await files.save() } },
///       removeAll: { .async { try await files.erase() } })
///
/// A function that is left out succeeds and does nothing. Each one starts its work at once and does
/// not block. The repository retains them.
public struct RepositoryMember: Sendable {
  let flush: @Sendable () -> Signal<Void>
  let removeAll: @Sendable () -> Signal<Void>
  let markAllStale: @Sendable () -> Void
  let stop: @Sendable (Deadline) -> Signal<Void>
  let close: @Sendable () -> Signal<Void>

  /// Creates a member from its functions.
  ///
  /// - Parameters:
  ///   - flush: Completes when all values are stored where they outlive the process.
  ///   - removeAll: Removes all values at once; its signal completes when none is left in files
  ///     either.
  ///   - markAllStale: Makes every value stale.
  ///   - stop: Starts no more work from now on; its signal completes when the running work has
  ///     ended, or was cancelled at the deadline.
  ///   - close: Releases files and the like; called after the flush, in a shutdown only.
  public init(
    flush: @escaping @Sendable () -> Signal<Void> = { .just(()) },
    removeAll: @escaping @Sendable () -> Signal<Void> = { .just(()) },
    markAllStale: @escaping @Sendable () -> Void = {},
    stop: @escaping @Sendable (Deadline) -> Signal<Void> = { _ in .just(()) },
    close: @escaping @Sendable () -> Signal<Void> = { .just(()) }
  ) {
    self.flush = flush
    self.removeAll = removeAll
    self.markAllStale = markAllStale
    self.stop = stop
    self.close = close
  }
}

extension RepositoryMember {
  /// Creates the functions of a cache of any kind.
  init(_ cache: some Cache) {
    self.init(
      of: { cache.topology(for: nil) }, flush: { cache.flush() }, removeAll: { cache.removeAll() })
  }

  /// Creates the functions of a composition; those that are not given apply to all of its parts.
  ///
  /// - Parameters:
  ///   - topology: Returns the composition; called by each function that is not given.
  ///   - flush: Completes when all values are stored where they outlive the process.
  ///   - removeAll: Removes all values.
  init(
    of topology: @escaping @Sendable () -> Topology,
    flush: @escaping @Sendable () -> Signal<Void>,
    removeAll: @escaping @Sendable () -> Signal<Void> = { .just(()) }
  ) {
    self.init(
      flush: flush, removeAll: removeAll,
      markAllStale: { for part in topology().allParts { part.markAllStale?() } },
      stop: { limit in WriteOutcome.all(topology().allParts.compactMap { $0.stop?(limit) }) },
      close: { WriteOutcome.all(topology().allParts.compactMap { $0.close?() }) })
  }
}
