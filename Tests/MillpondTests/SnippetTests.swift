import Foundation
import Testing

/// Holds the code of the README and of the articles against the code that this module compiles.
///
/// Compiled code stands between the lines `// snippet` and `// end`.
@Suite struct SnippetTests {
  struct Document: CustomTestStringConvertible {
    let page: String
    let source: String
    var testDescription: String { page }
  }

  static let articles = "Sources/Millpond/Millpond.docc"
  static let signalArticles = "Sources/MillpondSignals/MillpondSignals.docc"

  /// The page that shows whole files.
  static let examples = "\(articles)/Examples.md"

  /// The page whose code needs packages of others; it was compiled and run in a package with those.
  static let withPackages = "\(articles)/RedisOverTLSOnLinux.md"

  /// The modules of other packages: a block of an article that imports one was compiled and run in a
  /// package with those, and not here.
  private static let foreignModules = ["Hummingbird", "Logging", "Metrics", "Tracing"]

  static let documents = pages + tests(in: "Tasks") + tests(in: "Guides")

  private static let pages = [
    Document(page: "README.md", source: "ReadmeSnippets.swift"),
    Document(page: "\(articles)/Tour.md", source: "Pages/TourSnippets.swift"),
    Document(page: "\(articles)/PictureList.md", source: "Pages/PictureListPageTests.swift"),
    Document(page: "\(articles)/UserProfile.md", source: "Pages/UserProfilePageTests.swift"),
    Document(page: "\(articles)/Bookshop.md", source: "Pages/BookshopPageTests.swift"),
    Document(page: "\(articles)/CacheOfSignals.md", source: "Pages/CacheOfSignalsPageTests.swift"),
    Document(page: "\(articles)/SharedCache.md", source: "Pages/SharedCachePageTests.swift"),
    Document(page: "\(articles)/InAService.md", source: "Pages/InAServicePageTests.swift"),
    Document(
      page: "\(articles)/LogsMetricsAndTraces.md", source: "Pages/LogsMetricsAndTracesPage.swift"),
    Document(page: "\(articles)/Inspector.md", source: "Pages/InspectorArticleTests.swift"),
    Document(page: "\(articles)/HTTPCaching.md", source: "Pages/HTTPCachingPageTests.swift"),
    Document(
      page: "\(articles)/SessionsOfYourOwn.md", source: "Pages/SessionsOfYourOwnPage.swift"),
    Document(
      page: "Sources/MillpondTesting/MillpondTesting.docc/OrdersOfThreads.md",
      source: "../MillpondScheduleTests/OrdersOfThreadsPageTests.swift"),
    Document(
      page: "\(articles)/WritingATransport.md", source: "Pages/WritingATransportPageTests.swift"),
    Document(
      page: "\(signalArticles)/SignalContract.md", source: "Pages/SignalContractPageTests.swift"),
    Document(
      page: "\(signalArticles)/WritingAnOperator.md",
      source: "Pages/WritingAnOperatorPageTests.swift"),
  ]

  /// Returns a document for each file `NameTests.swift` of a folder, whose page is `Name.md`.
  private static func tests(in folder: String) -> [Document] {
    let names = try? FileManager.default.contentsOfDirectory(
      atPath: tests.appendingPathComponent(folder).path)
    return (names ?? []).filter { $0.hasSuffix("Tests.swift") }.sorted().map { name in
      Document(
        page: "\(articles)/\(name.dropLast("Tests.swift".count)).md", source: "\(folder)/\(name)")
    }
  }

  static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  static let root = tests.deletingLastPathComponent().deletingLastPathComponent()

  @Test(arguments: documents)
  func `a page shows the code that is compiled for it, all of it and nothing else`(
    _ document: Document
  ) throws {
    let shown = try Self.blocks(
      in: Self.root.appendingPathComponent(document.page), from: "```swift", to: "```")
    let compiled = try Self.blocks(
      in: Self.tests.appendingPathComponent(document.source), from: "// snippet", to: "// end")

    #expect(!shown.isEmpty)
    var missing = Array(compiled.indices)
    for block in shown where !Self.needsPackages(block) {
      let snippets = Self.range(of: block, in: compiled)
      #expect(snippets != nil, "not compiled:\n\(block)")
      missing.removeAll { snippets?.contains($0) ?? false }
    }
    for index in missing { Issue.record("not shown:\n\(compiled[index])") }
  }

  @Test(arguments: ["Feed.swift", "ArticleService.swift"])
  func `the page of the examples shows each file as it is`(file: String) throws {
    let page = try String(
      contentsOf: Self.root.appendingPathComponent(Self.examples), encoding: .utf8)
    let path = "Sources/MillpondDemo/Examples/\(file)"
    let code = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)

    #expect(page.contains("`\(path)`"))
    #expect(page.contains("```swift\n\(code)```"))
    // What is copied has the public face only.
    let imports = code.split(separator: "\n").filter { $0.hasPrefix("import ") }
    #expect(imports == ["import Foundation", "import Millpond"])
  }

  @Test func `every article with code is compared`() throws {
    let folder = Self.root.appendingPathComponent("Sources")
    let pages = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }
      .filter { $0.hasSuffix(".md") }
    #expect((pages?.count ?? 0) > 30)
    for page in pages ?? [] {
      let text = try String(contentsOf: folder.appendingPathComponent(page), encoding: .utf8)
      let isCompared =
        Self.documents.contains { $0.page == "Sources/\(page)" }
        || [Self.examples, Self.withPackages].contains("Sources/\(page)")
      #expect(isCompared || !text.contains("```swift"), "\(page)")
    }
  }

  private static func needsPackages(_ block: String) -> Bool {
    foreignModules.contains { block.contains("import \($0)\n") }
  }

  /// Returns the indices of the snippet that a block shows, or of those in a row that it shows with
  /// an empty line between them.
  private static func range(of block: String, in snippets: [String]) -> Range<Int>? {
    for first in snippets.indices {
      for last in first..<snippets.count
      where snippets[first...last].joined(separator: "\n\n") == block {
        return first..<last + 1
      }
    }
    return nil
  }

  /// Returns the blocks between two marks, without their indentation and without the commas of a
  /// list.
  private static func blocks(in file: URL, from start: String, to end: String) throws -> [String] {
    var blocks: [String] = []
    var block: [Substring]?
    for line in try String(contentsOf: file, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
    {
      let text = line.drop { $0 == " " }
      if text == start {
        block = []
      } else if text == end, let lines = block {
        blocks.append(normalised(lines))
        block = nil
      } else {
        block?.append(line)
      }
    }
    return blocks
  }

  private static func normalised(_ lines: [Substring]) -> String {
    let indentation = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
    return lines.map { $0.dropFirst(indentation).replacing("),  //", with: ")  //") }
      .joined(separator: "\n")
  }
}
