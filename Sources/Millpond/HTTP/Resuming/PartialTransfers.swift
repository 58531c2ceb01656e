import Dispatch
public import Foundation
import MillpondCore
public import MillpondSignals

/// A store of the bytes of interrupted and cancelled transfers, so that the next transfer of the
/// same resource requests only the rest, also in a later run of the process.
///
///     let partials = PartialTransfers(directory: folder, byteLimit: .mebibytes(64))
///     let films = HTTPSource(resuming: partials)
///
/// Bytes are kept if the origin sent a strong `ETag` (or, without any `ETag`, a length and a strong
/// `Last-Modified`), if they are neither encoded nor forbidden to be stored, and if there are at
/// least 16 KiB. The bytes of a ``MediaCache`` are kept in whole pieces of 256 KiB, as the file
/// that they are in: for that `directory` has to be on the same volume as the cache.
///
/// The rest is requested by `Range` and `If-Range`, so a changed resource is sent whole, as it is
/// by an origin that does not support ranges. If the rest does not have the same `ETag`, or the
/// same `Last-Modified` and length, the whole is requested.
///
/// Bytes are found by ``HTTPRequest/identity`` and the request's own ``HTTPRequest/headers``, not
/// by its credentials, and removed when the whole has arrived. When there is no room, the oldest
/// are removed first.
///
/// A failure in the folder loses such bytes but fails nothing except ``removeAll()``. A file that
/// can't be removed counts towards the limit, and is removed before later bytes are stored. Other
/// files are left alone. If a process is killed, downloads of a ``MediaCache`` are resumed except for the
/// last few megabytes; other transfers store their bytes only when they end.
///
/// - Note: Any thread. Files are read and written on a queue of their own.
public final class PartialTransfers: Sendable {
  let files: PartialFiles
  private let byteLimit: Int
  let queue = SerialQueue(
    label: "millpond.partials", qos: .utility, autoreleaseFrequency: .workItem)

  let state = Locked(PartialState())

  /// Creates a store in a folder, which is made when it is first needed.
  ///
  /// - Parameters:
  ///   - directory: A folder for this store alone.
  ///   - byteLimit: The greatest size of all files in bytes; with zero or less nothing is stored.
  public convenience init(directory: URL, byteLimit: Int) {
    self.init(directory: directory, byteLimit: byteLimit, FileSystem())
  }

  init(directory: URL, byteLimit: Int, _ system: FileSystem) {
    files = PartialFiles(folder: directory, system)
    self.byteLimit = byteLimit
    queue.async {
      let index = PartialIndex(self.files.list(), byteLimit: byteLimit)
      self.state.withLock { $0.index = index }
      for name in self.state.withLock({ $0.index?.surplus() }) ?? [] {
        try? self.files.remove(name)
      }
    }
  }

  /// Removes everything, as at a sign-out.
  ///
  /// Transfers that began before the call store nothing when they end, and find nothing. A cache
  /// over an ``HTTPSource`` with these partials calls this at its own `removeAll()`, and so at the
  /// end of its `CacheScope`. Without such a cache, add them to a scope:
  ///
  ///     session.add(isPersistent: true) { partials.removeAll() }
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  /// - Throws: `CacheError.unavailable(layer:underlying:)` if a file can't be removed.
  @discardableResult
  public func removeAll() -> Signal<Void> { removeAll(.next()) }

  /// Removes everything, with the given position in the order of all writes.
  func removeAll(_ revision: Revision) -> Signal<Void> {
    state.withLock { $0.removal = max($0.removal, revision) }
    return done {
      self.state.withLock { $0.index?.removeAll() }
      try self.files.removeAll()
    }
  }

  /// Completes when all pending bytes are written.
  public func flush() -> Signal<Void> { done {} }

  /// Returns when all pending bytes are written: the form for asynchronous code.
  public nonisolated(nonsending) func flush() async throws {
    try await flush().value
  }

  private func done(_ work: @escaping @Sendable () throws -> Void) -> Signal<Void> {
    let promise = Promise<Void>()
    queue.async {
      do {
        try work()
        promise.keep(by: .just(()))
      } catch {
        let failure = DiskError.of(error, folder: self.files.path)
        promise.keep(by: .fail(CacheError.unavailable(layer: "partials", underlying: failure)))
      }
    }
    return promise.outcome
  }
}

/// The index of the files, and the latest removal of all of them.
struct PartialState: Sendable {
  /// The index; nil until the folder has been read.
  var index: PartialIndex?

  /// The latest removal of everything; transfers that began before it find and store nothing.
  var removal = Revision.none

  /// The number of bytes in memory that wait for the disk.
  var waitingBytes = 0
}

/// The key of a transfer's bytes.
///
/// If all bytes are removed after the transfer began, it finds and stores none.
struct PartialPlace: Sendable {
  let representation: String

  /// The revision at which the transfer began.
  let revision: Revision
}

extension PartialTransfers {
  /// Sends the first bytes of a resource, or nil.
  func find(_ place: PartialPlace) -> Signal<PartialBody?> {
    found(.whole, place) { self.read($0, place) }
  }

  /// Runs `find` on the queue, unless there is known to be nothing.
  func found<Found>(
    _ kind: PartialFiles.Kind, _ place: PartialPlace,
    _ find: @escaping @Sendable (_ name: String) -> Found?
  ) -> Signal<Found?> {
    .deferred {
      let name = PartialFiles.name(of: place.representation, kind)
      if self.isKnownNotToHave(name) || self.isRemoved(place) { return .just(nil) }
      return Signal { observer, _ in
        self.queue.async {
          let found = find(name)
          // Not on this queue: an interrupted transfer waits for it, and the rest may arrive at
          // once.
          runInBackground(qos: .userInitiated) {
            observer.next(found)
            observer.completed()
          }
        }
      }
    }
  }

  func keep(_ partial: PartialBody, at place: PartialPlace) {
    let size = partial.bytes.count
    if size < Self.leastByteCount { return }
    let name = PartialFiles.name(of: place.representation)
    guard expect(name, size) else { return }
    queue.async {
      let data = PartialRecord(identity: place.representation, partial).data
      self.add(name, place, partial.version, bytes: size, fileSize: data.count) {
        self.files.write(data, name)
      }
      self.state.withLock { state in
        state.index?.endExpecting(name)
        state.waitingBytes -= size
      }
    }
  }

  /// Removes bytes, unless they are lent.
  func drop(_ representation: String, _ kind: PartialFiles.Kind = .whole) {
    let name = PartialFiles.name(of: representation, kind)
    if isKnownNotToHave(name) { return }
    queue.async { self.remove(name) }
  }

  /// The least number of bytes to keep; fewer are requested again.
  static var leastByteCount: Int { 16 << 10 }

  private func isKnownNotToHave(_ name: String) -> Bool {
    state.withLock { $0.index?.has(name) == false }
  }

  func isRemoved(_ place: PartialPlace) -> Bool { state.withLock { place.revision < $0.removal } }

  /// Reserves memory for bytes that wait for the disk, and records their file at once, so that a
  /// transfer that begins now waits for it; false if there is not enough memory.
  private func expect(_ name: String, _ size: Int) -> Bool {
    let limit = max(byteLimit, 64 << 20)
    return state.withLock { state in
      guard size <= limit - state.waitingBytes else { return false }
      state.waitingBytes += size
      state.index?.expect(name)
      return true
    }
  }
}

// On the queue.
extension PartialTransfers {
  private func read(_ name: String, _ place: PartialPlace) -> PartialBody? {
    guard state.withLock({ $0.index?.has(name) }) == true, !isRemoved(place) else { return nil }
    let record = files.read(name, byteLimit: byteLimit).flatMap { PartialRecord($0) }
    // A damaged file would be in the way of later bytes.
    guard let record else {
      remove(name)
      return nil
    }
    return record.identity == place.representation ? record.partial : nil
  }

  /// Adds a file that `write` writes, unless the present one is better or there is no room.
  ///
  /// - Returns: Whether it was written.
  @discardableResult
  func add(
    _ name: String, _ place: PartialPlace, _ version: ResourceVersion, bytes: Int, fileSize: Int,
    _ write: () -> Bool
  ) -> Bool {
    let needless = files.removeNeedless()
    guard !isRemoved(place),
      state.withLock({ $0.index?.admits(name, byteCount: fileSize + needless) }) == true,
      !hasMore(name, than: bytes, of: PartialHead(identity: place.representation, version))
    else { return false }
    let (surplus, former) =
      state.withLock { $0.index?.add(name, byteCount: fileSize, beside: needless) } ?? ([], nil)
    for name in surplus { try? files.remove(name) }
    if write() { return true }
    state.withLock { $0.index?.undoAdding(name, former: former) }
    return false
  }

  /// Whether at least as many bytes of the same version are stored.
  private func hasMore(_ name: String, than byteCount: Int, of head: PartialHead) -> Bool {
    guard let present = files.footer(name) else { return false }
    return present.head == head && present.byteCount >= byteCount
  }

  func remove(_ name: String) {
    if state.withLock({ $0.index?.remove(name) }) == true { try? files.remove(name) }
  }
}
