// The program of the README stands here, so that it has to compile. `SnippetTests` compares.

// snippet
import Foundation
import Millpond
// end

func readmeProgram() async throws {
  // snippet
  let folder = FileManager.default.temporaryDirectory.appending(path: "pictures")
  let pictures = MemoryCache<URL, Data>(costLimit: .mebibytes(64), cost: \.count)
    .layered(
      over: DiskCache(directory: folder, byteLimit: .mebibytes(256)).mapKeys(\.absoluteString)
        .layered(over: HTTPSource().limited(to: 6))
        .reusingInFlight())

  for case let url? in CommandLine.arguments.dropFirst().map({ URL(string: $0) }) {
    do {
      let picture = try await pictures.get(url).value
      print(url, picture.count, "bytes")
    } catch {
      print(error)  // names the URL, and what happened
    }
  }
  try await pictures.flush()  // a short program waits until everything is on disk
  // end
}
