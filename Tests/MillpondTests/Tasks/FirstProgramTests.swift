import Foundation
import LoopbackServer
import Millpond
import TestTraits
import Testing

/// The code of the page "A first program", run twice beside an origin on this machine.
@Suite(.timeLimit(.minutes(3))) struct FirstProgramTests {
  /// The values that the program takes from its surroundings; these names come before the system's here.
  struct CommandLine: Sendable { let arguments: [String] }
  struct FileManager: Sendable {
    struct Instance: Sendable { let temporaryDirectory: URL }
    let `default`: Instance
  }

  /// Runs the program, and returns its lines.
  static func run(_ CommandLine: CommandLine, _ FileManager: FileManager) async throws -> [String] {
    var lines: [String] = []
    func print(_ items: Any...) {
      lines.append(items.map { "\($0)" }.joined(separator: " "))
    }
    // snippet
    let folder = FileManager.default.temporaryDirectory.appending(path: "first")
    let disk = DiskCache(directory: folder, byteLimit: .mebibytes(256))
    let pages = MemoryCache<URL, Data>(costLimit: .mebibytes(64), cost: \.count)
      .layered(over: disk.mapKeys(\.absoluteString).layered(over: HTTPSource()).reusingInFlight())
    // end
    // snippet
    for case let url? in CommandLine.arguments.dropFirst().map({ URL(string: $0) }) {
      do {
        let found = try await pages.lookUp(url).value
        print(url, found.value?.count ?? 0, "bytes;", found.provenance)
      } catch {
        print(error)  // names the URL, and what happened
      }
    }
    try await pages.flush().value  // a short program waits until everything is on disk
    // end
    try await disk.close()
    return lines
  }

  @Test func `the second run has from disk what the first one loaded`() async throws {
    let folder = Foundation.FileManager.default.temporaryDirectory
      .appending(path: UUID().uuidString)
    defer { try? Foundation.FileManager.default.removeItem(at: folder) }
    let server = try LoopbackServer { _ in Response(body: [1, 2, 3]) }
    let page = "http://127.0.0.1:\(server.port)/page"
    let files = FileManager(default: .init(temporaryDirectory: folder))

    let first = try await Self.run(CommandLine(arguments: ["first", page, page]), files)
    server.stop()
    let second = try await Self.run(CommandLine(arguments: ["first", page, "\(page)/2"]), files)

    #expect(first.count == 2 && first.allSatisfy { $0.hasPrefix("\(page) 3 bytes;") })
    #expect(first.first?.contains("HTTPSource: hit") == true)
    #expect(first.last?.contains("DiskCache") == false)
    #expect(second.first?.contains("DiskCache: hit") == true)
    #expect(second.last?.contains("\(page)/2") == true)
  }
}
