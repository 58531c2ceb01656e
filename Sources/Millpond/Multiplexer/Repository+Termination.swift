import Foundation
public import MillpondCore
public import MillpondSignals

extension Repository {
  /// Flushes its members when the process is told to terminate (SIGTERM), and lets it do so then.
  ///
  /// For command-line tools and servers. A second signal is not waited for. It replaces what the process
  /// did on that signal before, until the result is disposed of: then that is the system's default.
  ///
  /// - Parameter patience: After how long the process terminates, whatever is not flushed by then.
  public func flushWhenTerminated(patience: Duration = .seconds(5)) -> Disposable {
    signal(SIGTERM, SIG_IGN)
    let source = DispatchSource.makeSignalSource(
      signal: SIGTERM, queue: DispatchQueue(label: "millpond.repository.termination"))
    source.setEventHandler {
      self.flush().timeout(patience).subscribe { event in
        guard event.isTerminal else { return }
        signal(SIGTERM, SIG_DFL)
        kill(getpid(), SIGTERM)
      }
    }
    source.activate()
    let listening = SignalSource(source: source)
    return Disposable {
      listening.source.cancel()
      signal(SIGTERM, SIG_DFL)
    }
  }
}

/// Sendable because a dispatch source may be cancelled from any thread.
private struct SignalSource: @unchecked Sendable {
  let source: any DispatchSourceSignal
}
