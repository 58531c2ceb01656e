import Dispatch
import Foundation
import MillpondCore
import MillpondSignals

/// What all caches of one folder share: acts on what the index decides.
///
/// The index is ahead of the log: it is changed when something is told, which then waits, in order, to
/// be written by the one queue that writes.
final class DiskStore: Sendable {
  let path: String
  let options: DiskOptions
  let limits: DiskLimits
  let folder: Folder
  let state: Locked<DiskState>
  let numbers = FileNumbers()
  let held = HeldFiles()
  let streams = RunningStreams()

  /// Where those who come are let in, in order: opening is the first thing that is done there.
  let entrance = DispatchQueue(label: "millpond.disk.entrance", autoreleaseFrequency: .workItem)

  private let opening = Locked<Result<Void, CacheError>?>(nil)
  private let writer: LogWriter
  private let writing = DispatchQueue(
    label: "millpond.disk.writing", autoreleaseFrequency: .workItem)

  /// Where observers are told how tellings ended: not where one of them would keep others from being
  /// written.
  private let telling = DispatchQueue(
    label: "millpond.disk.telling", autoreleaseFrequency: .workItem)
  let reading = Lanes("millpond.disk.reading", count: 4)
  let synchronizing = GroupSync()

  /// - Parameter path: Of the folder, without links.
  init(path: String, _ options: DiskOptions, _ files: FileSystem = FileSystem()) {
    self.path = path
    self.options = options
    limits = DiskLimits(byteLimit: options.byteLimit)
    folder = Folder(path: path, files, options.protection)
    state = Locked(DiskState(DiskIndex(costLimit: limits.costLimit, options.policy)))
    writer = LogWriter(folder, limits, options.form, numbers, state)
  }

  /// Takes the folder and finds out what is in it, the first time.
  ///
  /// Blocks; only at the entrance.
  func open() throws(CacheError) {
    let result =
      opening.withLock { $0 } ?? Result { () throws(CacheError) in try takeFolder() }
    opening.withLock { $0 = result }
    try result.get()
  }

  private func takeFolder() throws(CacheError) {
    do {
      try folder.take()
      var index = DiskIndex(costLimit: limits.costLimit, options.policy)
      let earlier = StoreRegistry.lastStore(of: path)
      let heldFiles = earlier?.held.numbers ?? []
      var opening = LogOpening(folder, heldFiles: heldFiles)
      let contents = try opening.open(&index)
      index.count { $0.damages += contents.damagedRecords }
      index.leaseAgain(heldFiles)
      state.withLock { [index] state in state.take(index, contents) }
      // Nobody else can have anything written before the folder is open.
      writer.take(contents)
      if writer.isErasing { finishErasing() }
      takeOver(heldFiles, from: earlier)
      StoreRegistry.note(self)
    } catch {
      folder.letGo()
      throw CacheError(disk: error, folder)
    }
  }

  /// Goes on with a removal of everything that the last process has not carried out to its end; what
  /// can't be removed now is tried again with the next such removal.
  private func finishErasing() {
    afterWriting { writer in
      try? writer.erase(sparing: self.held.numbers.union(self.streams.numbers))
    }
  }

  /// Lets go of the folder, where everything is written down; what is told from now on fails.
  func close() {
    writing.sync {
      writer.checkpoint()
      folder.letGo()
    }
  }
}

// MARK: - Writing

extension DiskStore {
  /// How much is written together at most.
  private var batchLimit: Int {
    min(1 << 20, limits.greatestSegment)
  }

  func wakeWriter() {
    writing.async { self.work() }
  }

  /// Calls `task` when everything that was told before has been written, on the writing queue.
  func afterWriting(_ task: @escaping @Sendable (LogWriter) -> Void) {
    if state.withLock({ $0.append(task) }) { wakeWriter() }
  }

  private func work() {
    let limit = batchLimit
    while true {
      switch state.withLock({ $0.takeWork(limit: limit) }) {
      case .tellings(let tellings):
        let failures = writer.write(tellings)
        writer.makeRoom(for: 0)
        tell(tellings, failures)
        _ = writer.compact()
      case .task(let task):
        task(writer)
      case nil:
        if writer.compact() || writer.checkpointIfDue() { continue }
        if state.withLock({ $0.rest() }) { return }
      }
    }
  }

  /// Ends the outcomes, and calls those who wait for them elsewhere.
  private func tell(_ tellings: [Told], _ failures: LogWriter.Failures) {
    var calls: [@Sendable () -> Void] = []
    for telling in tellings {
      let failure = failures.isEmpty ? nil : failures[ObjectIdentifier(telling)]
      let result: Result<Void, CacheError> = failure.map { .failure($0) } ?? .success(())
      for superseded in telling.superseded {
        if let call = superseded.outcome.end(with: result) { calls.append(call) }
      }
      if let call = telling.outcome.end(with: result) { calls.append(call) }
    }
    guard !calls.isEmpty else { return }
    telling.async { [calls] in
      for call in calls { call() }
    }
  }

  /// Calls `done` when everything that was told before is on its way to the device, or, if it is to
  /// be synchronized, there.
  func flush(
    _ durability: Durability, _ done: @escaping @Sendable (CacheError?) -> Void
  ) {
    afterWriting { _ in
      switch durability {
      case .written: self.telling.async { done(nil) }
      case .synchronized:
        self.state.withLock { $0.isKeptOnDevice = true }
        self.synchronizing.run({ try self.writer.synchronize() }) { error in
          self.telling.async { done(error.map { CacheError(disk: $0, self.folder) }) }
        }
      }
    }
  }
}

// MARK: - Telling

extension DiskStore {
  /// Takes a change in, at once; how it ends is known when it is on disk.
  func apply(_ change: Change<String, Data>) -> Signal<Void> {
    switch change {
    case .set(let key, let value, let revision):
      set(key, .value(value), options.timeToLive, revision).signal
    case .fill(let key, let stamped, let token):
      fill(key, stamped, token).signal
    case .remove(let key, let revision):
      take(
        Told(
          key: key, hash: KeyHash(of: key), .removal, storedAt: options.now(), revision: revision)
      ) { $0.index.remove($1) }.signal
    case .removeAll(let revision):
      removeAll(revision)
    }
  }

  /// Removes everything at once; the outcome succeeds when no byte of it is left in a file.
  private func removeAll(_ revision: Revision) -> Signal<Void> {
    let outcome = take(
      Told(
        key: "", hash: KeyHash(of: ""), .removalOfAll, storedAt: options.now(), revision: revision)
    ) { state, _ in
      var consequence = DiskIndex.Consequence()
      _ = state.index.removeAll(revision, &consequence)
      return consequence
    }
    let streams = streams.erase(before: revision)
    return outcome.signal.flatMap { _ in self.erased(after: streams) }.started()
  }

  /// Succeeds when the bytes of streams have gone, and everything from before the last removal of
  /// everything has gone from the files.
  private func erased(after streams: Signal<Void>) -> Signal<Void> {
    streams.flatMap { _ in
      Signal { observer, _ in
        self.afterWriting { writer in
          let result = Result<Void, any Error> {
            try writer.erase(sparing: self.held.numbers.union(self.streams.numbers))
          }.mapError { CacheError(disk: $0, self.folder) }
          self.telling.async { observer.end(with: result) }
        }
      }
    }
  }

  /// Keeps a value, for so long.
  func set(
    _ key: String, _ content: Told.Content, _ timeToLive: TimeToLive, _ revision: Revision,
    _ validator: Validator? = nil
  ) -> DiskOutcome {
    let now = options.now()
    let telling = Told(
      key: key, hash: KeyHash(of: key), content, storedAt: now,
      expiresAt: now.after(timeToLive), validator: validator, revision: revision)
    let cost = cost(of: telling)
    if let refusal = refusal(of: telling, cost) { return refusal }
    return take(telling) { $0.index.set($1, cost: cost) }
  }

  private func fill(
    _ key: String, _ stamped: Stamped<Data>, _ token: FillToken
  ) -> DiskOutcome {
    let bornAt = options.now().before(by: stamped.age)
    let telling = Told(
      key: key, hash: KeyHash(of: key), .value(stamped.value), storedAt: bornAt,
      expiresAt: bornAt.after(options.timeToLive), validator: stamped.validator, revision: .none)
    let cost = cost(of: telling)
    if let refusal = refusal(of: telling, cost) { return refusal }
    return take(telling) { state, telling in
      let consequence = state.index.fill(telling, cost: cost, token)
      telling.outcome.isAdmittedFill = consequence.isToBeWritten && !telling.isVoid
      return consequence
    }
  }

  /// The outcome of a value that is larger than the cache may hold; nil for others.
  ///
  /// Where the limit is zero everything is, and it succeeds: nothing is to be stored.
  private func refusal(of telling: Told, _ cost: Int) -> DiskOutcome? {
    guard cost > limits.costLimit, limits.byteLimit > 0,
      telling.expiresAt == .never || telling.expiresAt > options.now()
    else { return nil }
    removeFile(of: telling)
    let size = max(telling.waitingBytes, telling.largeLength)
    let error = DiskError.tooLarge(
      folder: path, key: telling.key, byteCount: size, limit: limits.costLimit)
    _ = telling.outcome.end(with: .failure(CacheError(disk: error)))
    return telling.outcome
  }

  /// More than any limit for what can't be stored at all.
  private func cost(of telling: Told) -> Int {
    let large = telling.largeLength
    let payload: Int
    switch telling.content {
    case .value(let value): payload = large > 0 ? LargeValue.size : value.count
    default: payload = LargeValue.size
    }
    let size = RecordHead.recordSize(key: telling.key, payload: payload, telling.validator)
    guard size <= RecordHead.greatestSize, large <= LargeValue.greatestLength,
      telling.expiresAt == .never || telling.expiresAt > options.now()
    else { return .max }
    return DiskLimits.cost(recordSize: size, large: large)
  }

  private func take(
    _ telling: Told, _ decide: (inout DiskState, Told) -> DiskIndex.Consequence
  ) -> DiskOutcome {
    let isValue = telling.isValue
    let bytes = telling.waitingBytes
    typealias Answer = (queued: (wakes: Bool, dropped: [Told.Content])?, DiskIndex.Consequence)
    let (queued, consequence) = state.withLock { state -> Answer in
      let consequence = decide(&state, telling)
      guard consequence.isToBeWritten else { return (nil, consequence) }
      if isValue { state.index.count { $0.bytesTold += bytes } }
      return (state.append(telling, consequence), consequence)
    }
    guard let queued else {
      removeFile(of: telling)
      _ = telling.outcome.end(with: .success(()))
      return telling.outcome
    }
    remove(consequence.files)
    if queued.wakes { wakeWriter() }
    return telling.outcome
  }

  /// What was streamed for a telling that is not taken in.
  private func removeFile(of telling: Told) {
    if let file = telling.file { remove([file.number]) }
  }

  /// Removes files of large values that nobody needs, when what comes instead has been written.
  func remove(_ files: [UInt64]) {
    if !files.isEmpty { afterWriting { $0.remove(files) } }
  }

  /// Forgets a record that is bad, too old, or gone; false if there is another one by now, or none.
  ///
  /// - Parameter key: If it is known, its removal is written, so that an older value, which may lie in
  ///   the log still, does not come to light instead.
  func forget(
    _ hash: KeyHash, at spot: Spot, key: String?, _ count: (inout DiskStatistics) -> Void
  ) -> Bool {
    let removal = key.map {
      Told(key: $0, hash: hash, .removal, storedAt: options.now(), revision: .none)
    }
    var files: [UInt64] = []
    let (isForgotten, wakes) = state.withLock { state -> (Bool, Bool) in
      guard state.index.forget(hash, at: spot, &files) else { return (false, false) }
      state.index.count(count)
      guard let removal else { return (true, false) }
      return (true, state.append(removal, DiskIndex.Consequence()).wakes)
    }
    if wakes { wakeWriter() }
    remove(files)
    return isForgotten
  }
}

extension Told {
  fileprivate var isValue: Bool {
    switch content {
    case .value, .file: true
    case .removal, .removalOfAll: false
    }
  }
}

/// What a store was made with: two caches of one folder have to agree about it.
struct DiskOptions: Sendable {
  var byteLimit: Int
  var timeToLive = TimeToLive.never
  var policy = EvictionPolicy.adaptive
  var form = ValueForm(schema: .unversioned, sealing: nil)

  var protection = DiskProtection.afterFirstUnlock

  /// By which values grow old.
  var now: @Sendable () -> WallTime = { .now }

  /// Whether a store with these options serves a cache that was made with `other`.
  ///
  /// Closures can't be compared; whether there is one can.
  func agrees(with other: DiskOptions) -> Bool {
    byteLimit == other.byteLimit && timeToLive == other.timeToLive && policy == other.policy
      && protection == other.protection && form.schema.version == other.form.schema.version
      && (form.sealing == nil) == (other.form.sealing == nil)
  }
}
