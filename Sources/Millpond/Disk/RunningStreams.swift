import MillpondCore
import MillpondSignals

/// The values of a store that are being written to files as they come, by the numbers of the files.
final class RunningStreams: Sendable {
  typealias Done = @Sendable ((any Error)?) -> Void

  private struct Stream: Sendable {
    let beginning: Revision
    let erase: @Sendable (@escaping Done) -> Void
  }

  private struct State: Sendable {
    var streams: [UInt64: Stream] = [:]
    var removal = Revision.none
  }

  private let state = Locked(State())

  var numbers: Set<UInt64> { state.withLock { Set($0.streams.keys) } }

  /// Takes a stream in, until it is removed.
  ///
  /// - Parameter erase: Removes its bytes from the disk, and sees to it that it is not kept.
  /// - Returns: Whether everything has been removed since its beginning, so that it begins erased.
  func add(
    _ number: UInt64, since beginning: Revision, erase: @escaping @Sendable (@escaping Done) -> Void
  ) -> Bool {
    state.withLock { state in
      state.streams[number] = Stream(beginning: beginning, erase: erase)
      return beginning < state.removal
    }
  }

  func remove(_ number: UInt64) {
    let gone = state.withLock { $0.streams.removeValue(forKey: number) }
    _ = gone  // released here, not under the lock
  }

  /// Erases all streams that began before a removal of everything; how long they still run does not matter.
  ///
  /// - Returns: The outcome, replayed: success when no file has their bytes, or the first failure.
  func erase(before revision: Revision) -> Signal<Void> {
    let streams = state.withLock { state in
      state.removal = max(state.removal, revision)
      return state.streams.values.filter { $0.beginning < revision }
    }
    if streams.isEmpty { return .just(()) }
    let promise = Promise<Void>()
    let left = Locked((count: streams.count, failure: (any Error)?.none))
    for stream in streams {
      stream.erase { failure in
        let isLast = left.withLock { left in
          left.count -= 1
          left.failure = left.failure ?? failure
          return left.count == 0
        }
        guard isLast else { return }
        let failure = left.withLock { $0.failure }
        promise.keep(by: failure.map { .fail($0) } ?? .just(()))
      }
    }
    return promise.outcome
  }
}
