import Foundation
import Testing

@Suite struct PublicNamesTests {
  static let modules = [
    "MillpondSignals", "MillpondCore", "MillpondEntities", "Millpond", "MillpondEntityArchive",
    "MillpondTesting", "MillpondHTTPTesting", "MillpondInspector", "MillpondRedis",
  ]

  @Test func `every public type is used by its bare name beside Foundation`() throws {
    let here = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
    let sources = here.deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Sources")
    let list = try String(contentsOf: here.appending(path: "PublicNames.swift"), encoding: .utf8)
    let used = Set(list.matches(of: /(?m)^extension (\w+) \{\}/).map { String($0.1) })

    let declared = try Self.modules.reduce(into: Set<String>()) { names, module in
      names.formUnion(try Self.publicTypes(in: sources.appending(path: module)))
    }

    #expect(declared.count > 50)
    #expect(used == declared, "\(used.symmetricDifference(declared).sorted())")
  }

  @Test(arguments: modules.filter { !["MillpondInspector", "MillpondHTTPTesting"].contains($0) })
  func `every public type stands in a group of its module's documentation`(module: String) throws {
    let sources = SnippetTests.root.appending(path: "Sources/\(module)")
    let page = sources.appending(path: "\(module).docc/\(module).md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let grouped = text.matches(of: /(?m)^- ``(\w+)``$/).map { String($0.1) }

    let declared = Set(try Self.publicTypes(in: sources))

    #expect(Set(grouped).count == grouped.count)
    #expect(declared == Set(grouped), "\(declared.symmetricDifference(grouped).sorted())")
  }

  private static func publicTypes(in folder: URL) throws -> [String] {
    let names = FileManager.default.enumerator(atPath: folder.path())?
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    return try #require(names).flatMap { name in
      let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      let lines = text.split(separator: "\n").filter {
        $0.hasPrefix("public ") || $0.hasPrefix("@")
      }
      let declaration =
        /(?:@\w+ )*public (?:final class|class|struct|enum|protocol|actor|typealias) (\w+)/
      // A use that the compiler refuses needs no name that is free.
      return zip(lines, ["@"] + lines).compactMap { line, before in
        before.hasPrefix("@available(*, unavailable")
          ? nil : line.prefixMatch(of: declaration).map { String($0.1) }
      }
    }
  }
}
