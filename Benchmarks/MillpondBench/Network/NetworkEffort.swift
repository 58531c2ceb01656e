/// The number of repetitions, and of operations in each.
struct NetworkEffort {
  /// Pairs of ours and the bare session's.
  let pairs: Int

  /// Requests of one turn.
  let requests: Int

  /// Bytes of a body that streams.
  let streamed: Int

  /// Bytes of a body that is too large for memory.
  let large: Int

  static let full = NetworkEffort(pairs: 15, requests: 400, streamed: 50 << 20, large: 1 << 30)

  /// Enough to find a wrong sum.
  static let quick = NetworkEffort(pairs: 3, requests: 20, streamed: 5 << 20, large: 100 << 20)
}
