import Foundation
import Testing

@Suite struct ImportsTests {
  @Test(arguments: ["MillpondSignals", "MillpondCore"])
  func `no file of a module below Millpond imports Foundation`(module: String) throws {
    let root = URL(filePath: #filePath)
      .resolvingSymlinksInPath().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let folder = root.appending(path: "Sources").appending(path: module)
    let files = FileManager.default.enumerator(atPath: folder.path())?
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }

    let names = try #require(files)
    #expect(!names.isEmpty)
    for name in names {
      let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      let imports = text.split(separator: "\n").filter { line in
        line.split(separator: " ").contains("import") && line.contains("Foundation")
          && !line.trimmingPrefix(while: \.isWhitespace).hasPrefix("//")
      }
      #expect(imports.isEmpty, "\(module)/\(name)")
    }
  }
}
