package import Dispatch

/// Runs work on a global queue; in a build with schedules, as a thread of the caller's schedule.
package func runInBackground(
  qos: DispatchQoS.QoSClass = .default, _ work: @escaping @Sendable () -> Void
) {
  #if MILLPOND_SCHEDULES
    if let thread = LogicalThread.current { return thread.fork(work) }
  #endif
  DispatchQueue.global(qos: qos).async(execute: work)
}

/// Runs the handler of a task's cancellation; in a build with schedules, without points.
///
/// The runtime has a lock of its own meanwhile, for which no schedule could let others wait.
@usableFromInline
package func runCancellationHandler(_ handle: () -> Void) {
  #if MILLPOND_SCHEDULES
    if let thread = LogicalThread.current { return thread.runQuietly(handle) }
  #endif
  handle()
}

#if MILLPOND_SCHEDULES
  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// Yields to other threads, of the schedule if there is one.
  @usableFromInline
  package func yieldThread(file: StaticString = #fileID, line: UInt = #line) {
    guard let thread = LogicalThread.current else { return _ = sched_yield() }
    thread.pass(.yield, at: CodeLine(file: file, line: line))
  }
#endif
