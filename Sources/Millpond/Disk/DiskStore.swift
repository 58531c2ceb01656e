import Dispatch
import Foundation
import MillpondCore
import MillpondSignals

/// The store that all caches of one folder share; it carries out the decisions of the index.
///
/// The index is ahead of the log: a write changes it at once, and then waits, in order, for the
/// writing queue.
final class DiskStore: Sendable {
  let path: String
  let options: DiskOptions
  let limits: DiskLimits
  let folder: Folder
  let state: Locked<DiskState>
  let numbers = FileNumbers()
  let streams = StreamedWrites()
  let removals = RemovalsByPredicate<String>()
  let running = RunningRemovals()

  /// The queue on which caches are admitted, in order; its first work is the opening.
  let admissions = SerialQueue(label: "millpond.disk.admissions", autoreleaseFrequency: .workItem)

  let writer: LogWriter

  /// The queue for observers of outcomes, which must not delay other writes.
  let outcomes = SerialQueue(label: "millpond.disk.outcomes", autoreleaseFrequency: .workItem)
  let reading = ReadQueues("millpond.disk.reading", count: 4)

  private let opening = Locked<Result<Void, CacheError>?>(nil)
  private let writing = SerialQueue(
    label: "millpond.disk.writing", autoreleaseFrequency: .workItem)

  /// Creates a store.
  ///
  /// - Parameters:
  ///   - path: The path of the folder, without links.
  ///   - options: The settings.
  ///   - files: The file system.
  init(path: String, _ options: DiskOptions, _ files: FileSystem = FileSystem()) {
    self.path = path
    self.options = options
    limits = DiskLimits(byteLimit: options.byteLimit)
    folder = Folder(path: path, files, options.protection)
    state = Locked(DiskState(DiskIndex(costLimit: limits.costLimit, options.policy)))
    writer = LogWriter(folder, limits, options.form, numbers, state)
  }

  /// Takes the folder and reads its contents; repeats the result after the first call.
  ///
  /// Blocks; only on the queue of admissions.
  ///
  /// - Parameter earlier: The last store of the folder.
  func open(after earlier: LastStore?) throws(CacheError) {
    let result =
      opening.withLock { $0 }
      ?? Result { () throws(CacheError) in try takeFolder(after: earlier) }
    opening.withLock { $0 = result }
    try result.get()
  }

  private func takeFolder(after last: LastStore?) throws(CacheError) {
    let earlier = last?.store
    do {
      try folder.take()
      var index = DiskIndex(costLimit: limits.costLimit, options.policy)
      let leasedFiles = earlier?.state.withLock { Set($0.index.leases.keys) } ?? []
      var opening = LogOpening(folder, leasedFiles: leasedFiles)
      let contents = try opening.open(&index)
      index.statistics.damages += contents.damagedRecords
      index.statistics.outdatedFiles += contents.outdatedFiles
      index.leaseAgain(leasedFiles)
      if let last {
        index.writes = last.writes
        removals.takeOver(from: last.removals)
      }
      state.withLock { [index] state in state.take(index, contents) }
      // Nothing else can be written before the folder is open.
      writer.take(contents)
      writer.remove(contents.needlessFiles)
      takeOver(leasedFiles, from: earlier)
      // Finishes a removal of everything that the last process began; files that can't be removed
      // now are removed by the next such removal.
      if writer.isErasing { afterWriting { try? self.erase() } }
    } catch {
      folder.letGo()
      throw CacheError(disk: error, folder)
    }
  }

  /// Releases the folder and its log, after all writes; later gets and writes fail.
  ///
  /// A file that is still lent keeps the store, but none of its open files.
  ///
  /// - Returns: What the next store of the folder takes over.
  func close() -> LastStore {
    writing.sync {
      writer.checkpoint()
      folder.letGo()
      writer.letGo()
      let writes = state.withLock { $0.index.endOrder() }
      removals.forgetUnneeded()
      return LastStore(store: self, writes: writes, removals: removals, end: .present)
    }
  }
}

// MARK: - The writing queue

extension DiskStore {
  @inline(never)
  func wakeWriter() { writing.async { self.work() } }

  /// Calls `task` on the writing queue when all earlier writes are done.
  @inline(never)
  func afterWriting(_ task: @escaping @Sendable () -> Void) {
    if state.withLock({ $0.queue.append(task) }) { wakeWriter() }
  }

  /// Returns the outcome of work on the writing queue when all earlier writes are done, now: a value,
  /// or none if the work returns nil.
  func outcomeAfterWriting(
    _ work: @escaping @Sendable () throws -> Void?
  ) -> Signal<Void> {
    Signal { observer, _ in
      self.afterWriting {
        let result = Result { try work() }
        self.outcomes.async {
          switch result {
          case .success(()?): observer.succeeded()
          case .success(nil): observer.completed()
          case .failure(let error): observer.failed(CacheError(disk: error, self.folder))
          }
        }
      }
    }.started()
  }

  /// Removes all bytes from before the last removal of everything; only on the writing queue.
  func erase() throws { try writer.erase { self.streams.numbers } }

  private func work() {
    let limit = min(1 << 20, limits.greatestSegment)
    var isCompact = false
    while true {
      switch state.withLock({ $0.queue.take(limit: limit) }) {
      case .writes(let writes):
        writer.write(writes)
        end(writes)
        isCompact = !writer.compact()
      case .group(let writes):
        writer.write(group: writes)
        end(writes)
        isCompact = !writer.compact()
      case .task(let task):
        task()
        isCompact = false
      case nil where !isCompact: isCompact = !writer.compact()
      case nil:
        isCompact = !writer.checkpointIfDue()
        if isCompact, state.withLock({ $0.queue.rest() }) { return }
      }
    }
  }

  private func end(_ writes: [DiskWrite]) {
    let ends = writes.flatMap { write in
      write.promises.map { ($0, write.failure) }
    }
    outcomes.async {
      for (promise, failure) in ends { promise.end(failure) }
    }
  }

  /// Calls `done` when all earlier writes have been handed over to the system or, if they are to be
  /// synchronized, are on the device.
  func flush(
    _ durability: Durability, _ done: @escaping @Sendable (CacheError?) -> Void
  ) {
    afterRemovals {
      var failure: CacheError?
      if durability == .synchronized {
        self.writer.isKeptOnDevice = true
        do {
          try self.writer.synchronize()
        } catch {
          failure = CacheError(disk: error, self.folder)
        }
      }
      self.outcomes.async { [failure] in done(failure) }
    }
  }
}

/// The settings of a store; caches of one folder have to agree on them, see ``agrees(with:)``.
struct DiskOptions: Sendable {
  var byteLimit: Int

  /// The time to live that a cache has at first; each cache of a folder has its own.
  var timeToLive = TimeToLive.forever
  var policy = EvictionPolicy.adaptive
  var form = DiskValueFormat(schema: .unversioned, sealing: nil)

  var protection = DiskProtection.afterFirstUnlock

  /// The clock for the ages of values.
  var now: @Sendable () -> WallTime = { .now }

  /// Whether a store with these options can serve a cache with `other`.
  ///
  /// Closures can't be compared, only their presence.
  func agrees(with other: DiskOptions) -> Bool {
    byteLimit == other.byteLimit && policy == other.policy && protection == other.protection
      && form.schema.version == other.form.schema.version
      && (form.sealing == nil) == (other.form.sealing == nil)
  }
}

/// A few queues on which calls may block; the work of one key is done in order.
struct ReadQueues: Sendable {
  private let queues: [SerialQueue]

  /// The work that has been added and is not done.
  private let underWay = WaitGroup()

  init(_ label: String, count: Int) {
    queues = (0..<count).map {
      SerialQueue(label: "\(label) \($0)", autoreleaseFrequency: .workItem)
    }
  }

  /// Runs `work` after all earlier work of the key.
  func run(_ key: KeyHash, _ work: @escaping @Sendable () -> Void) {
    queues[Int(key.value % UInt64(queues.count))].async(group: underWay, execute: work)
  }

  /// Holds back ``whenIdle(on:_:)`` until the returned closure is called, once.
  func hold() -> @Sendable () -> Void {
    underWay.enter()
    return { [underWay] in underWay.leave() }
  }

  /// Calls `work` on a queue as soon as nothing is under way.
  func whenIdle(on queue: SerialQueue, _ work: @escaping @Sendable () -> Void) {
    underWay.notify(queue: queue, execute: work)
  }
}
