import Foundation
import Testing

/// Holds the article of promises against the test sources.
@Suite struct PromisesArticleTests {
  struct Row {
    let suite: String
    let test: String
  }

  let rows: [Row]

  /// The texts of the files that declare a suite, or extend it.
  let sources: [String: [String]]

  init() throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    let article = tests.deletingLastPathComponent()
      .appendingPathComponent("Sources/Millpond/Millpond.docc/Promises.md")
    rows = Self.rows(in: try String(contentsOf: article, encoding: .utf8))
    let names = FileManager.default.enumerator(atPath: tests.path)?
      .compactMap { $0 as? String }.filter { $0.hasSuffix("Tests.swift") || $0.contains("Tests+") }
    var sources: [String: [String]] = [:]
    for name in names ?? [] {
      let text = try String(contentsOf: tests.appendingPathComponent(name), encoding: .utf8)
      for suite in Self.types(in: text) { sources[suite, default: []].append(text) }
    }
    self.sources = sources
  }

  @Test func `every test that the article of promises names exists in its suite`() {
    #expect(rows.count > 80)
    for row in rows {
      let isThere = sources[row.suite, default: []].contains {
        $0.utf8.firstRange(of: "func `\(row.test)`(".utf8) != nil
      }
      #expect(isThere, "\(row.suite): \(row.test)")
    }
  }

  /// Returns the names of the types that a file declares.
  private static func types(in text: String) -> Set<String> {
    let words = text.split { $0 == " " || $0 == "\n" }
    let declared = zip(words, words.dropFirst()).filter { $0.0 == "struct" || $0.0 == "class" }
    return Set(declared.map { String($0.1) })
  }

  /// Returns the rows of all tables, without their heads.
  private static func rows(in article: String) -> [Row] {
    article.split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard line.hasPrefix("| "), cells.count == 3, cells[1].hasPrefix("`") else { return nil }
      return Row(suite: cells[1].replacingOccurrences(of: "`", with: ""), test: cells[2])
    }
  }
}
