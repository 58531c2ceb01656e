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
/// A get in memory goes on with what a ``MediaCache`` has left of the same resource. The other way
/// round that needs a number of bytes that is a multiple of 64, for the sake of their checksum.
///
/// The rest is requested by `Range` and `If-Range`, so a changed resource is sent whole, as it is
/// by an origin that does not support ranges. If the rest does not have the same `ETag`, or the
/// same `Last-Modified` and length, the whole is requested.
///
/// Bytes are found by ``HTTPRequest/identity`` and the request's fields, of which only salted hashes
/// are on disk, and removed when the whole has arrived, or when the resource is requested with other
/// fields. When there is no room, the oldest are removed first.
///
/// The files are accessible to their owner only, protected by `protection`, and left out of backups.
/// Their bytes are as they came: a source whose values are to be sealed should have no partials.
///
/// A failure in the folder loses such bytes but fails nothing except ``removeAll()``. Other files are
/// left alone. If a process is killed, downloads of a ``MediaCache`` are resumed except for the
/// last few megabytes; other transfers store their bytes only when they end.
///
/// - Note: Any thread. Files are read and written on a queue of their own.
public final class PartialTransfers: Sendable {
  let files: PartialFiles
  private let hashKey: [UInt8]
  let queue = SerialQueue(
    label: "millpond.partials", qos: .utility, autoreleaseFrequency: .workItem)

  let state = Locked(PartialState())

  /// Creates a store in a folder, which is made when it is first needed.
  ///
  /// - Parameters:
  ///   - directory: A folder for this store alone.
  ///   - byteLimit: The greatest size of all files in bytes; with zero or less nothing is stored.
  ///   - protection: The protection class of the files, on devices that lock. Give a ``MediaCache``
  ///     that of its disk cache, whose files these are.
  ///   - hashKey: A secret key for the hashes of URLs and fields; nil hashes them without one, so
  ///     that whoever has the files can check a guess. Nothing is found by another key.
  public convenience init(
    directory: URL, byteLimit: Int, protection: DiskProtection = .afterFirstUnlock,
    hashKey: Data? = nil
  ) {
    self.init(directory: directory, byteLimit: byteLimit, FileSystem(), protection, hashKey)
  }

  init(
    directory: URL, byteLimit: Int, _ system: FileSystem,
    _ protection: DiskProtection = .afterFirstUnlock, _ hashKey: Data? = nil
  ) {
    self.hashKey = hashKey.map(Array.init) ?? []
    files = PartialFiles(folder: directory, protection: protection, system: system)
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

  /// The number of beginnings in memory that wait for the disk.
  var waitingCount = 0
}

/// The key of a transfer's bytes.
///
/// If all bytes are removed after the transfer began, it finds and stores none.
struct PartialPlace: Sendable {
  let representation: Representation

  /// The revision at which the transfer began.
  let revision: Revision

  /// The key of hashes; empty for none.
  var hashKey: [UInt8] = []

  /// The name of the files, the same for all forms of the resource: a name from its fields would say
  /// something about secret ones.
  var name: String { PartialFiles.name(of: representation.identity, hashKey) }
}

extension PartialTransfers {
  func place(of representation: Representation, _ revision: Revision) -> PartialPlace {
    PartialPlace(representation: representation, revision: revision, hashKey: hashKey)
  }

  /// Sends the first bytes of a resource, or nil if there are none, or more than a limit.
  func find(_ place: PartialPlace, byteLimit: Int = .max) -> Signal<PartialBody?> {
    found(place) { head in
      if head.byteCount > byteLimit { return nil }
      guard let bytes = self.files.read(place.name, head) else {
        self.remove(place.name)
        return nil
      }
      return PartialBody(bytes: bytes, version: head.resumePoint.version)
    }
  }

  /// Runs `use` on the queue with the head of a resource's bytes, unless there is known to be none.
  func found<Found>(
    _ place: PartialPlace, _ use: @escaping @Sendable (PartialHead) -> Found?
  ) -> Signal<Found?> {
    .deferred {
      if self.isKnownNotToHave(place.name) || self.isRemoved(place) { return .just(nil) }
      return Signal { observer, _ in
        self.queue.async {
          let found = self.head(place).flatMap(use)
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

  /// Whether there is no file; false before the folder has been read, and while bytes wait for the
  /// disk.
  func isKnownNotToHave(_ name: String) -> Bool {
    state.withLock { $0.waitingCount == 0 && $0.index?.has(name) == false }
  }

  func isRemoved(_ place: PartialPlace) -> Bool { state.withLock { place.revision < $0.removal } }
}

// On the queue.
extension PartialTransfers {
  /// Returns the head of a resource's bytes; nil if there are none for this transfer.
  private func head(_ place: PartialPlace) -> PartialHead? {
    let name = place.name
    guard state.withLock({ $0.index?.has(name) }) == true, !isRemoved(place) else { return nil }
    if let head = files.head(name), head.isOf(place) { return head }
    // A damaged file, or that of another form, would be in the way of later bytes.
    remove(name)
    return nil
  }

  func remove(_ name: String) {
    if state.withLock({ $0.index?.remove(name) }) == true { try? files.remove(name) }
  }
}
