import MillpondSignals

/// The files that are lent by a store, also when it has been closed: the next store of the folder in
/// this process leaves them until they are given back.
final class HeldFiles: Sendable {
  private struct State: Sendable {
    var counts: [UInt64: Int] = [:]
    var heir: DiskStore?
  }

  private let state = Locked(State())

  var numbers: Set<UInt64> {
    state.withLock { Set($0.counts.keys) }
  }

  func add(_ number: UInt64) {
    state.withLock { $0.counts[number, default: 0] += 1 }
  }

  /// Notes that a file has been given back.
  ///
  /// - Returns: The store that has to know, if it was the last hold of a file that it has taken over.
  func remove(_ number: UInt64) -> DiskStore? {
    state.withLock { state in
      let count = state.counts[number] ?? 0
      state.counts[number] = count > 1 ? count - 1 : nil
      return count > 1 ? nil : state.heir
    }
  }

  /// Makes a store take over what is held; it is told from now on.
  func handOver(to heir: DiskStore) -> Set<UInt64> {
    state.withLock { state in
      state.heir = heir
      return Set(state.counts.keys)
    }
  }
}
