import Dispatch

/// Lets the program put things right when the user ends it, with Ctrl-C for instance.
final class Interruption {
  private let sources: [any DispatchSourceSignal]

  /// Runs `action` on a queue of its own, instead of ending the process, while this lives.
  ///
  /// - Parameter action: Gets the exit code that says which signal it was (130 for Ctrl-C), and has
  ///   to end the process itself.
  init(_ action: @escaping @Sendable (_ exitCode: Int32) -> Void) {
    let queue = DispatchQueue(label: "interruption")
    sources = Terminal.endingSignals.map { number in
      Terminal.keepFromEnding(number)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { action(128 + number) }
      source.resume()
      return source
    }
  }
}
