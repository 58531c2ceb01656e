#if canImport(FoundationNetworking)
  import Foundation
  import MillpondTesting
  import Testing

  @testable import Millpond

  @Suite struct FileBodyStreamTests {
    /// Reads a stream over a file that is cut to `rest` bytes after the first hundred.
    private func read(rest: UInt64) throws -> (count: Int, earlyEnds: Int) {
      let file = FileManager.default.temporaryDirectory
        .appendingPathComponent("millpond-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      try Data(count: 1_000).write(to: file)
      let earlyEnds = Watched(0)
      let stream = try #require(
        FileBodyStream(path: file.path, length: 1_000) { earlyEnds.change { $0 += 1 } })
      stream.open()
      defer { stream.close() }
      var bytes = [UInt8](repeating: 0, count: 100)
      var count = stream.read(&bytes, maxLength: 100)
      try FileHandle(forWritingTo: file).truncate(atOffset: rest)
      while stream.hasBytesAvailable {
        let more = stream.read(&bytes, maxLength: 100)
        if more <= 0 { break }
        count += more
      }
      _ = stream.read(&bytes, maxLength: 100)
      return (count, earlyEnds.state)
    }

    @Test func `the end of a file that became shorter is reported once`() throws {
      let (count, earlyEnds) = try read(rest: 300)
      #expect(count == 300 && earlyEnds == 1)
    }

    @Test func `a whole file is sent without a report`() throws {
      let (count, earlyEnds) = try read(rest: 1_000)
      #expect(count == 1_000 && earlyEnds == 0)
    }

    @Test func `a file that is missing has no stream`() {
      let stream = FileBodyStream(path: "/nowhere/\(UUID().uuidString)", length: 1) {}
      stream?.open()
      #expect(stream == nil || stream?.hasBytesAvailable == false || stream?.streamError != nil)
      stream?.close()
    }
  }
#endif
