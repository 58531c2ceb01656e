/// The result of the fastest peer for a row.
///
/// Measured on another machine, with Swift 6.3.1; see the article "Measuring". The packages are not
/// dependencies of this one, so their figures are constants. Compare the multiples of a floor:
/// theirs measured there, ours here.
struct Peer: Encodable {
  let name: String
  let nanoseconds: Double

  /// OpenCombine 0.14.
  static func openCombine(_ nanoseconds: Double) -> Peer {
    Peer(name: "OC", nanoseconds: nanoseconds)
  }

  /// RxSwift 6.10.
  static func rxSwift(_ nanoseconds: Double) -> Peer {
    Peer(name: "Rx", nanoseconds: nanoseconds)
  }

  /// ReactiveSwift 7.2.1.
  static func reactiveSwift(_ nanoseconds: Double) -> Peer {
    Peer(name: "RS", nanoseconds: nanoseconds)
  }

  /// Makes the figure of AsyncAlgorithms 1.1.4, or of `Task.value` for plain async code.
  static func asyncCode(_ nanoseconds: Double) -> Peer {
    Peer(name: "AA", nanoseconds: nanoseconds)
  }
}
