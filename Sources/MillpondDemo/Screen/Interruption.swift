import Dispatch
import Foundation

/// A handler of the signals by which a user ends the program: those of Ctrl-C and of `kill`.
final class Interruption {
  private let sources: [any DispatchSourceSignal]

  /// Runs `action` on a separate queue instead of ending the process, while this object lives.
  ///
  /// - Parameter action: Receives the exit code for the signal (130 for Ctrl-C), and has to end the
  ///   process itself.
  init(_ action: @escaping @Sendable (_ exitCode: Int32) -> Void) {
    let queue = DispatchQueue(label: "interruption")
    sources = [SIGINT, SIGTERM].map { number in
      _ = signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { action(128 + number) }
      source.resume()
      return source
    }
  }
}
