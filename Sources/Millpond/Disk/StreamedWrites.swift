import MillpondCore
import MillpondSignals

/// The streams of a store that are being written to files, by the numbers of the files.
final class StreamedWrites: Sendable {
  typealias Done = @Sendable ((any Error)?) -> Void

  private struct Stream: Sendable {
    let beginning: Revision
    let erase: @Sendable (@escaping Done) -> Void
  }

  private let streams = Locked<[UInt64: Stream]>([:])

  var numbers: Set<UInt64> { streams.withLock { Set($0.keys) } }

  /// Adds a stream.
  ///
  /// - Parameters:
  ///   - number: The number of its file.
  ///   - beginning: The revision at which it began.
  ///   - erase: Removes its bytes from the disk, and ensures that it is not stored.
  func add(
    _ number: UInt64, since beginning: Revision, erase: @escaping @Sendable (@escaping Done) -> Void
  ) {
    streams.withLock { $0[number] = Stream(beginning: beginning, erase: erase) }
  }

  func remove(_ number: UInt64) {
    streams.discard { $0.removeValue(forKey: number) }
  }

  /// Erases all streams that began before a removal of everything, without waiting for their ends.
  ///
  /// - Returns: The outcome: success when no file contains their bytes, or the first failure.
  func erase(before revision: Revision) -> Signal<Void> {
    let streams = streams.withLock { $0.values.filter { $0.beginning < revision } }
    return WriteOutcome.all(
      streams.map { stream in
        let erased = Promise<Void>()
        stream.erase { erased.keep(by: $0.map { .fail($0) } ?? .just(())) }
        return erased.outcome
      })
  }
}
