import Foundation
import LoopbackServer

/// Pictures, by the path under which the origin serves them.
struct Gallery: Sendable {
  let authors: [Author]
  private let paths: [Author: String]
  private let files: [String: [UInt8]]

  /// Returns generated pictures, one for each of twelve authors.
  static func madeUp() -> Gallery {
    Gallery(
      Author.known(12).map { ($0, "/avatars/\($0.identifier).bmp", Avatar(name: $0.name).bmp()) })
  }

  /// Returns the files of a folder, one for each author, named after the file.
  ///
  /// - Throws: The error of reading the folder; ``GalleryError`` if it has no files.
  static func files(in folder: URL) throws -> Gallery {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    let entries = names.enumerated().compactMap { number, name -> (Author, String, [UInt8])? in
      let file = folder.appendingPathComponent(name)
      guard !name.hasPrefix("."), let data = try? Data(contentsOf: file) else { return nil }
      return (Author(name: name), "/files/\(number)", [UInt8](data))
    }
    if entries.isEmpty { throw GalleryError.empty(folder: folder.path) }
    return Gallery(entries)
  }

  private init(_ entries: [(author: Author, path: String, bytes: [UInt8])]) {
    authors = entries.map(\.author)
    paths = Dictionary(entries.map { ($0.author, $0.path) }) { first, _ in first }
    files = Dictionary(entries.map { ($0.path, $0.bytes) }) { first, _ in first }
  }

  func path(of author: Author) -> String {
    paths[author] ?? "/nobody"
  }

  /// Returns an origin that serves the pictures, slowly.
  func origin() throws -> LoopbackServer {
    try LoopbackServer(latency: .milliseconds(60), bytesPerSecond: 150_000) { [files] request in
      guard let bytes = files[request.path] else { return Response(status: 404) }
      return Response(headers: ["Content-Type": "image/*"], body: bytes)
    }
  }
}

/// The reasons why there is nothing to show.
enum GalleryError: Error, CustomStringConvertible {
  case empty(folder: String)

  var description: String {
    switch self {
    case .empty(let folder): "There are no files in \(folder)."
    }
  }
}
