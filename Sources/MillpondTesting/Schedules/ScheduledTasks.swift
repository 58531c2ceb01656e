#if MILLPOND_SCHEDULES
  import Foundation
  import MillpondSignals

  /// The jobs of tasks that a logical thread makes or resumes, as threads of its schedule.
  ///
  /// The runtime calls a hook for each job that goes to the global executor.
  enum ScheduledTasks {
    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Enqueue) -> Void

    /// Installs the hook, once.
    static let install: Void = {
      guard let symbol = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else {
        return
      }
      symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, enqueue in
        guard let thread = LogicalThread.current else { return enqueue(job) }
        thread.fork { job.runSynchronously(on: ScheduledExecutor.shared.asUnownedTaskExecutor()) }
      }
    }()
  }

  /// The executor that the jobs believe to run on.
  private final class ScheduledExecutor: TaskExecutor {
    static let shared = ScheduledExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      guard let thread = LogicalThread.current else {
        return job.runSynchronously(on: asUnownedTaskExecutor())
      }
      thread.fork { job.runSynchronously(on: Self.shared.asUnownedTaskExecutor()) }
    }
  }
#endif
