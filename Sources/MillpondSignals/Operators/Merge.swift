extension Signal {
  /// Sends what any of `signals` sends, as it comes, and completes when all have completed.
  ///
  /// The first failure ends everything. Progress is the sum of those that run, its total known if
  /// each of them knows its own. Of no signals at all: completes.
  @inlinable
  public static func merge(_ signals: some Sequence<Signal>) -> Signal {
    Signal<Signal>.from(Array(signals)).flatMap(.merge) { $0 }
  }

  /// Sends what this and `others` send, as a merge of a collection does.
  @inlinable
  public func merge(_ others: Signal...) -> Signal {
    Self.merge([self] + others)
  }
}
