import Dispatch
import MillpondCore
import MillpondSignals

/// The streams of a store that are being written to files, by the numbers of the files.
final class StreamedWrites: Sendable {
  typealias Done = @Sendable ((any Error)?) -> Void

  private struct Stream: Sendable {
    let beginning: Revision
    let erase: @Sendable (@escaping Done) -> Void
    let end: @Sendable (@escaping @Sendable () -> Void) -> Void
  }

  private struct State: Sendable {
    var streams: [UInt64: Stream] = [:]

    /// Whether the store is closed.
    var isOver = false
  }

  private let state = Locked(State())

  var numbers: Set<UInt64> { state.withLock { Set($0.streams.keys) } }

  /// Adds a stream, which ends at once if the store is closed.
  ///
  /// - Parameters:
  ///   - number: The number of its file.
  ///   - beginning: The revision at which it began.
  ///   - erase: Removes its bytes from the disk, and ensures that it is not stored.
  ///   - end: Ends it, and lets go of its files.
  func add(
    _ number: UInt64, since beginning: Revision,
    erase: @escaping @Sendable (@escaping Done) -> Void,
    end: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    let isOver = state.withLock { state in
      if !state.isOver {
        state.streams[number] = Stream(beginning: beginning, erase: erase, end: end)
      }
      return state.isOver
    }
    if isOver { end {} }
  }

  func remove(_ number: UInt64) {
    state.discard { $0.streams.removeValue(forKey: number) }
  }

  /// Ends all streams, and those that are added later; calls `done` on a queue when all have let go
  /// of their files.
  func end(on queue: SerialQueue, _ done: @escaping @Sendable () -> Void) {
    let streams = state.withLock { state in
      state.isOver = true
      return Array(state.streams.values)
    }
    let underWay = WaitGroup()
    for stream in streams {
      underWay.enter()
      stream.end { underWay.leave() }
    }
    underWay.notify(queue: queue, execute: done)
  }

  /// Erases all streams that began before a removal of everything, without waiting for their ends.
  ///
  /// - Returns: The outcome: success when no file contains their bytes, or the first failure.
  func erase(before revision: Revision) -> Signal<Void> {
    let streams = state.withLock { $0.streams.values.filter { $0.beginning < revision } }
    return WriteOutcome.all(
      streams.map { stream in
        let erased = Promise<Void>()
        stream.erase { erased.keep(by: $0.map { .fail($0) } ?? .just(())) }
        return erased.outcome
      })
  }
}
