import Dispatch
import MillpondCore
import MillpondSignals

/// The streams of a store that are being written to files, by the numbers of the files.
final class StreamedWrites: Sendable {
  private struct Entry: Sendable {
    weak let stream: FileStream?
  }

  private struct State: Sendable {
    var entries: [UInt64: Entry] = [:]

    /// Whether the store is closed.
    var isOver = false
  }

  private let state = Locked(State())

  var numbers: Set<UInt64> { state.withLock { Set($0.entries.keys) } }

  /// Adds a stream, which ends at once if the store is closed.
  func add(_ stream: FileStream) {
    let isOver = state.withLock { state in
      if !state.isOver { state.entries[stream.number] = Entry(stream: stream) }
      return state.isOver
    }
    if isOver { _ = stream.endByClosing() }
  }

  func remove(_ number: UInt64) {
    state.discard { $0.entries.removeValue(forKey: number) }
  }

  /// Ends all streams, and those that are added later; calls `done` on a queue when all have let go
  /// of their files.
  func end(on queue: SerialQueue, _ done: @escaping @Sendable () -> Void) {
    let entries = state.withLock { state in
      state.isOver = true
      return Array(state.entries.values)
    }
    WriteOutcome.all(entries.compactMap { $0.stream?.endByClosing() })
      .subscribe(onCompleted: { queue.async(execute: done) })
  }

  /// Erases all streams that began before a removal of everything, without waiting for their ends.
  ///
  /// - Returns: The outcome: success when no file contains their bytes, or the first failure.
  func erase(before revision: Revision) -> Signal<Void> {
    let streams = state.withLock { Array($0.entries.values) }.compactMap(\.stream)
    return WriteOutcome.all(streams.filter { $0.beginning < revision }.map { $0.erase() })
  }
}
