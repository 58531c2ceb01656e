import Foundation
import MillpondSignals

/// A temporary file with the bytes of a body that is a stream, for its owner only; it is removed
/// with this object.
///
/// Its name has the number of the process, so that a later process can remove what a dead one has
/// left.
///
/// A session asks for the bytes of a stream on a thread that must not wait for them: on Linux all
/// sessions share it (swift-corelibs-foundation 6.3.1). A file also has a length, and can be sent
/// again after a redirect.
final class SpooledFile: Sendable {
  let url: URL

  private static let prefix = "millpond-body-"
  private static let swept: Void = sweep(FileManager.default.temporaryDirectory)

  private init() {
    _ = Self.swept
    let process = ProcessInfo.processInfo.processIdentifier
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(Self.prefix)\(process).\(UUID().uuidString)")
  }

  /// Removes the files of dead processes; before the first file of this one, whose number a dead
  /// one may have had.
  static func sweep(
    _ folder: URL, isRunning: (Int32) -> Bool = { CLibrary.isRunningOther($0) }
  ) {
    let names = (try? FileSystem().namesInFolder(folder.resolvedPath)) ?? []
    for name in names where name.hasPrefix(prefix) {
      // Former versions wrote no number.
      let process = name.dropFirst(prefix.count).split(separator: ".").first.flatMap { Int32($0) }
      if let process, isRunning(process) { continue }
      try? FileSystem().remove(folder.appendingPathComponent(name).resolvedPath)
    }
  }

  deinit { try? FileSystem().remove(url.resolvedPath) }

  /// Writes the pieces of a body to a file, and sends that when all have come.
  ///
  /// Each piece is reported as progress without a sent byte, so that a stream that sends is not
  /// taken for a silent origin.
  static func of(_ body: HTTPBody) -> Signal<SpooledFile> {
    Signal { observer, lifetime in
      let queue = BoundedByteQueue("millpond.http.spooling", limit: 2 << 20)
      let upstream = lifetime.child()
      // Touched only on the queue.
      let state = SerialState(State())
      lifetime.onEnd { queue.add { state.value = State() } }
      let fail = { @Sendable (error: any Error) in
        upstream.end()
        state.value = State()
        if !lifetime.isEnded { observer.failed(error) }
      }
      let perform = { @Sendable (work: () throws -> Void) in
        if upstream.isEnded { return }
        do { try work() } catch { fail(error) }
      }
      let receive = { @Sendable (event: Event<Never>) in
        switch event {
        case .progress: break
        case .failed(let error): perform { throw error }
        case .completed:
          perform {
            let file = try state.value.finish()
            observer.next(file)
            if !lifetime.isEnded { observer.completed() }
          }
        }
      }
      body.pieces.run(
        Observer(
          next: { piece in
            queue.add(piece.count) {
              perform {
                try state.value.write(piece)
                observer.progress(SignalProgress(completed: 0, total: body.length))
              }
            }
          },
          other: { event in queue.add { receive(event) } }), upstream)
    }
  }

  private struct State {
    private var open: (file: OpenFile, spooled: SpooledFile)?
    private var byteCount = 0

    mutating func write(_ piece: Data) throws {
      try opened().write(piece, at: byteCount)
      byteCount += piece.count
    }

    mutating func finish() throws -> SpooledFile {
      try opened().close()
      guard let spooled = exchange(&open, with: nil)?.spooled else { throw CancellationError() }
      return spooled
    }

    private mutating func opened() throws -> OpenFile {
      if let open { return open.file }
      let spooled = SpooledFile()
      let file = try FileSystem().open(spooled.url.resolvedPath, .making)
      open = (file, spooled)
      return file
    }
  }
}
