#if canImport(FoundationNetworking)
  import Foundation

  /// A file as the body of a request, which notices that the file has become shorter.
  ///
  /// The session has stated the length, and would wait for the missing bytes until a timeout
  /// (swift-corelibs-foundation 6.3.1).
  final class FileBodyStream: InputStream {
    private let file: InputStream
    private let endsEarly: @Sendable () -> Void

    /// The number of bytes to come.
    private var rest: Int

    /// Creates a stream; nil if the file can't be read.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - length: The number of bytes that the session has stated.
    ///   - endsEarly: Called when there are fewer.
    init?(path: String, length: Int, endsEarly: @escaping @Sendable () -> Void) {
      guard let file = InputStream(fileAtPath: path) else { return nil }
      self.file = file
      self.endsEarly = endsEarly
      rest = length
      super.init(data: Data())
    }

    override func open() { file.open() }
    override func close() { file.close() }
    override var streamStatus: Stream.Status { file.streamStatus }
    override var streamError: (any Error)? { file.streamError }

    override var hasBytesAvailable: Bool {
      if file.hasBytesAvailable { return true }
      checkEnd()
      return false
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
      let count = file.read(buffer, maxLength: maxLength)
      if count > 0 { rest -= count } else { checkEnd() }
      return count
    }

    private func checkEnd() {
      if rest > 0 { endsEarly() }
      rest = 0
    }
  }
#endif
