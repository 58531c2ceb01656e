import Foundation
import LoopbackServer
import Millpond
import MillpondTesting
import Testing

@Suite(.timeLimit(.minutes(3))) struct ShrinkingFileTests {
  @Test(arguments: 0..<3)
  func `a file that gets shorter while it is sent ends its upload at once`(
    round: Int
  ) async throws {
    let origin = try LoopbackServer { _ in Response() }
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("millpond-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
    // A gap, which takes no room.
    try FileHandle(forWritingTo: file).truncate(atOffset: 16 << 20)
    let url = try origin.url("/film")
    let recorder = Recorder<HTTPPart>()

    let request = HTTPRequest.put(url, .file(file, contentType: "video/mp4"))
    recorder.subscribe(to: URLSessionTransport().send(request)) { event in
      if case .progress = event {
        try? FileHandle(forWritingTo: file).truncate(atOffset: 1)
      }
    }
    try await recorder.ended()

    #expect(recorder.failureInWords == "invalid request", "\(recorder.transcript.suffix(1))")
    #expect("\(recorder.failure.map { "\($0)" } ?? "")".contains("16777216"))
  }
}
