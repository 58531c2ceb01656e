import Foundation
import MillpondSignals
import MillpondSockets

/// A link by a stream of the user's, whose events wake the thread of the connections.
final class StreamLink: RedisLink {
  private let stream: any RedisStream
  private let wake: WakePipe
  private let state = Locked(State())

  fileprivate struct State: Sendable {
    var isConnected = false
    var isWriting = false
    var isReading = false
    var isClosed = false

    /// The bytes that have not been moved.
    var input = Data()

    /// Whether it has ended, and by which failure.
    var isOver = false
    var failure: RedisError?
  }

  /// Begins to connect.
  init(connecting stream: any RedisStream, _ wake: WakePipe) {
    self.stream = stream
    self.wake = wake
    stream.connect { [weak self] event in self?.received(event) }
  }

  deinit { if !state.withLock({ $0.isClosed }) { stream.close() } }

  private func received(_ event: RedisStreamEvent) {
    let failure = event.failure
    let asksForBytes = state.withLock { state in
      if state.isOver { return false }
      switch event {
      case .connected: return !exchange(&state.isConnected, with: true) && state.beginReading()
      case .received(let bytes):
        state.isReading = false
        state.input += bytes
      case .written: state.isWriting = false
      case .ended: (state.isOver, state.failure) = (true, failure)
      }
      return false
    }
    if asksForBytes { stream.read() }
    wake.signal()
  }

  // MARK: As the thread of the connections sees it

  var descriptor: Int32 { -1 }

  var failure: RedisError? {
    state.withLock { $0.failure ?? ($0.isConnected || !$0.isOver ? nil : .connectionLost) }
  }

  func readiness(after watch: SocketCalls.Watch) -> (isReadable: Bool, isWritable: Bool) {
    state.withLock { state in
      let hasRoom = state.isConnected && !state.isWriting
      return (state.isOver || !state.input.isEmpty, state.isOver || hasRoom)
    }
  }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> SocketCalls.Transfer {
    let (result, asksForBytes) = state.withLock { state -> (SocketCalls.Transfer, Bool) in
      if state.input.isEmpty { return (state.isOver ? .moved(0) : .wouldBlock, false) }
      let count = min(buffer.count, state.input.count)
      state.input.copyBytes(to: buffer, count: count)
      state.input = count == state.input.count ? Data() : state.input.dropFirst(count)
      return (.moved(count), state.beginReading())
    }
    if asksForBytes { stream.read() }
    return result
  }

  func send(_ bytes: UnsafeRawBufferPointer) -> SocketCalls.Transfer {
    let refusal = state.withLock { state -> SocketCalls.Transfer? in
      if state.isOver { return .failed(0) }
      return exchange(&state.isWriting, with: true) ? .wouldBlock : nil
    }
    if let refusal { return refusal }
    stream.write(Data(bytes))
    return .moved(bytes.count)
  }

  func shutDown() {
    let wasClosed = state.withLock { state in
      state.isOver = true
      return exchange(&state.isClosed, with: true)
    }
    if wasClosed { return }
    stream.close()
    wake.signal()
  }
}

extension StreamLink.State {
  /// Returns whether the stream is to be asked for bytes.
  fileprivate mutating func beginReading() -> Bool {
    input.isEmpty && !isOver && !exchange(&isReading, with: true)
  }
}

extension RedisStreamEvent {
  /// The failure of an end, made into text before any lock is held.
  fileprivate var failure: RedisError? {
    guard case .ended(let error?) = self else { return nil }
    return error as? RedisError ?? .streamFailed(message: "\(error)")
  }
}
