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
    _ = state.withLock { $0.streams.removeValue(forKey: number) }
  }

  /// Erases all streams that began before a removal of everything; how long they still run does not matter.
  ///
  /// - Returns: The outcome: success when no file has their bytes, or the first failure.
  func erase(before revision: Revision) -> Signal<Void> {
    let streams = state.withLock { state in
      state.removal = max(state.removal, revision)
      return state.streams.values.filter { $0.beginning < revision }
    }
    if streams.isEmpty { return .just(()) }
    let outcomes = streams.map { stream in
      let erased = Promise<Void>()
      stream.erase { erased.keep(by: $0.map { .fail($0) } ?? .just(())) }
      return erased.outcome
    }
    return Signal.merge(outcomes).collect().map { _ in () }
  }
}
