import Dispatch
import Foundation
import MillpondSignals

/// The first bytes of a streamed body, for one transfer alone.
struct PartialStream: Sendable {
  let beginning: Beginning
  let file: LentFile
}

extension PartialTransfers {
  /// What there is of a streamed body, if there is something and nobody else goes on with it.
  func lend(_ identity: String) -> Signal<PartialStream?> {
    .deferred {
      let name = PartialFiles.name(of: identity, .streamed)
      if self.isKnownNotToHave(name) { return .just(nil) }
      return Signal { observer, _ in
        self.queue.async {
          let stream = self.lend(name, identity)
          // Not here: what breaks off waits for this queue, and the rest may come at once.
          DispatchQueue.global(qos: .userInitiated).async {
            observer.next(stream)
            observer.completed()
          }
        }
      }
    }
  }

  /// Takes a file over with the first bytes of a body; false if it stays where it is.
  ///
  /// Blocks: not on the queue of files.
  func keep(_ file: UnfinishedFile, _ head: PartialHead) -> Bool {
    queue.sync {
      let name = PartialFiles.name(of: head.identity, .streamed)
      let surplus = index.withLock { $0?.add(name, byteCount: file.byteCount) } ?? []
      for name in surplus { files.remove(name) }
      guard index.withLock({ $0?.has(name) }) == true else { return false }
      if files.take(file, PartialTail(head, file), name) { return true }
      index.withLock { _ = $0?.remove(name) }
      return false
    }
  }

  // On the queue.
  private func lend(_ name: String, _ identity: String) -> PartialStream? {
    guard index.withLock({ $0?.lend(name) }) == true else { return nil }
    guard let tail = files.tail(name), tail.head.identity == identity else {
      index.withLock { $0?.endLending(name) }
      files.remove(name)
      return nil
    }
    let file = UnfinishedFile(
      path: files.path(name), byteCount: tail.byteCount, checksum: tail.checksum)
    return PartialStream(
      beginning: Beginning(edition: tail.head.edition, byteCount: tail.byteCount),
      file: LentFile(file) { [index] isTaken in
        index.withLock { index in
          if isTaken {
            index?.endLending(name)
          } else {
            index?.takeBack(name, byteCount: tail.byteCount)
          }
        }
      })
  }
}
