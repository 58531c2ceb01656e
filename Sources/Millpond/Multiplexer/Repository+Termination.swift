import Foundation
public import MillpondCore
public import MillpondSignals
import Synchronization

extension Repository {
  /// Flushes the members when the process receives SIGTERM, and terminates it afterwards.
  ///
  /// For command-line tools and servers. It replaces the process's handler of that signal, and that
  /// of another repository, until the result is disposed of; then the default action applies.
  ///
  /// - Parameter timeLimit: The time after which the process terminates even if the flush is not
  ///   complete.
  /// - Throws: `POSIXError` if the system can't make a pipe.
  public func flushWhenTerminated(timeLimit: Duration = .seconds(5)) throws -> Disposable {
    let pipe = try TerminationPipe()
    pipe.listen {
      self.flush().timeout(timeLimit).subscribe { event in
        if event.isTerminal { TerminationPipe.terminate() }
      }
    }
    return Disposable { pipe.close() }
  }
}

/// A receiver of SIGTERM through a pipe, since a signal handler may do little more than write.
///
/// A dispatch source for signals is registered some time later, and a signal before that is lost.
private final class TerminationPipe: Sendable {
  /// The end of the pipe to which the handler writes; -1 for none.
  private static let writingEnd = Atomic<Int32>(-1)

  private let ends: (readingEnd: Int32, writingEnd: Int32)

  /// May be cancelled from any thread.
  private nonisolated(unsafe) let source: any DispatchSourceRead

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EMFILE) }
    // What the process prints must not be taken for the signal.
    for place in 0..<2 { ends[place] = try POSIXCalls.moved(ends[place], "") }
    // Not inherited by programs that this one starts; `pipe2` is not available everywhere.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    self.ends = (ends[0], ends[1])
    source = DispatchSource.makeReadSource(
      fileDescriptor: ends[0], queue: DispatchQueue(label: "millpond.repository.termination"))
  }

  func listen(_ act: @escaping @Sendable () -> Void) {
    let (source, ends) = (source, ends)
    source.setEventHandler {
      source.cancel()
      act()
    }
    source.setCancelHandler {
      _ = Foundation.close(ends.readingEnd)
      _ = Foundation.close(ends.writingEnd)
    }
    source.activate()
    Self.writingEnd.store(ends.writingEnd, ordering: .sequentiallyConsistent)
    signal(SIGTERM) { _ in
      var byte: UInt8 = 1
      _ = write(TerminationPipe.writingEnd.load(ordering: .sequentiallyConsistent), &byte, 1)
    }
  }

  func close() {
    let wasListening = Self.writingEnd.compareExchange(
      expected: ends.writingEnd, desired: -1, ordering: .sequentiallyConsistent
    ).exchanged
    if wasListening { signal(SIGTERM, SIG_DFL) }
    source.cancel()
  }

  /// Terminates the process as the default action does, also on a thread that blocks the signal.
  static func terminate() {
    signal(SIGTERM, SIG_DFL)
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(SIGTERM)
  }
}
