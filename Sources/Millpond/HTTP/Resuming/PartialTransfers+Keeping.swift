import Foundation
import MillpondSignals

extension PartialTransfers {
  /// Stores the first bytes of a body.
  func keep(_ partial: PartialBody, at place: PartialPlace) {
    let size = partial.bytes.count
    if size < Self.leastByteCount { return }
    // Transfers that begin now wait for the disk.
    state.withLock { $0.waitingCount += 1 }
    queue.async {
      self.add(place, partial.version, byteCount: size) {
        try self.files.write(partial.bytes, place.name)
      }
      self.state.withLock { $0.waitingCount -= 1 }
    }
  }

  /// Takes over a file with the first bytes of a body; false if it stays in its place.
  ///
  /// Blocks: not on the queue of files.
  func keep(_ file: UnfinishedFile, _ version: ResourceVersion, at place: PartialPlace) -> Bool {
    queue.sync { add(place, version, byteCount: file.byteCount) { file } }
  }

  /// Removes bytes, unless they are lent.
  func drop(_ place: PartialPlace) {
    if isKnownNotToHave(place.name) { return }
    queue.async { self.remove(place.name) }
  }

  /// Begins to follow a file into which a body is being streamed.
  ///
  /// Returns the file for its head; nil if the resource has bytes already. Meanwhile nothing else is
  /// stored for it.
  ///
  /// Blocks: not on the queue of files.
  func follow(_ file: UnfinishedFile, at place: PartialPlace) -> OpenFile? {
    // On the queue, on which everything is removed too.
    queue.sync {
      guard !isRemoved(place), state.withLock({ $0.index?.reserve(place.name) }) == true else {
        return nil
      }
      let head = files.follow(file, place.name)
      if head == nil { state.withLock { $0.index?.endLending(place.name) } }
      return head
    }
  }

  /// Ends what ``follow(_:at:)`` has begun.
  func endFollowing(_ place: PartialPlace) {
    if isRemoved(place) { return }
    try? files.remove(place.name)
    state.withLock { $0.index?.endLending(place.name) }
  }

  /// The least number of bytes to keep; fewer are requested again.
  static var leastByteCount: Int { 16 << 10 }

  // On the queue.

  /// Adds a file that `make` makes in place of the present one, unless that is lent or there is no
  /// room; of a file that can't be made nothing is left.
  ///
  /// - Returns: Whether it was added.
  @discardableResult
  private func add(
    _ place: PartialPlace, _ version: ResourceVersion, byteCount: Int,
    _ make: () throws -> UnfinishedFile
  ) -> Bool {
    let name = place.name
    guard !isRemoved(place),
      let surplus = state.withLock({ $0.index?.add(name, byteCount: byteCount) })
    else { return false }
    for name in surplus { try? files.remove(name) }
    do {
      let file = try make()
      try files.keep(file, PartialHead(file, version, at: place), name)
      return true
    } catch {
      remove(name)
      return false
    }
  }
}
