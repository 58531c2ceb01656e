import Synchronization

/// Numbers for files, none of which is ever used again, by another run of the program neither: they
/// begin anywhere.
final class FileNumbers: Sendable {
  private let last = Atomic(UInt64.random(in: 0 ... .max))

  func next() -> UInt64 {
    last.wrappingAdd(1, ordering: .relaxed).newValue
  }
}
