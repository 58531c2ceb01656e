import MillpondCore
import MillpondSignals

/// The streams of a store that are being written to files, by the numbers of the files.
final class StreamedWrites: Sendable {
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

  /// Adds a stream.
  ///
  /// - Parameters:
  ///   - number: The number of its file.
  ///   - beginning: The revision at which it began.
  ///   - erase: Removes its bytes from the disk, and ensures that it is not stored.
  /// - Returns: Whether everything was removed since it began, so that it has to be erased.
  func add(
    _ number: UInt64, since beginning: Revision, erase: @escaping @Sendable (@escaping Done) -> Void
  ) -> Bool {
    state.withLock { state in
      state.streams[number] = Stream(beginning: beginning, erase: erase)
      return beginning < state.removal
    }
  }

  func remove(_ number: UInt64) {
    state.discard { $0.streams.removeValue(forKey: number) }
  }

  /// Erases all streams that began before a removal of everything, without waiting for their ends.
  ///
  /// - Returns: The outcome: success when no file contains their bytes, or the first failure.
  func erase(before revision: Revision) -> Signal<Void> {
    let streams = state.withLock { state in
      state.removal = max(state.removal, revision)
      return state.streams.values.filter { $0.beginning < revision }
    }
    return WriteOutcome.all(
      streams.map { stream in
        let erased = Promise<Void>()
        stream.erase { erased.keep(by: $0.map { .fail($0) } ?? .just(())) }
        return erased.outcome
      })
  }
}
