// A framework that is distributed as a binary, and uses Millpond inside.
internal import Foundation
internal import Millpond

public final class Articles: Sendable {
  private let disk: DiskCache

  public init(in folder: String) {
    disk = DiskCache(directory: URL(filePath: folder), byteLimit: .mebibytes(16))
  }

  public func article(_ name: String) async throws -> String {
    String(decoding: try await disk.get(name).value, as: UTF8.self)
  }
}
