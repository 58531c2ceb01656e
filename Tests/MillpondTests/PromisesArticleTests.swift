import Foundation
import Testing

/// Holds the article of promises against the test sources.
@Suite struct PromisesArticleTests {
  struct Row {
    let suite: String
    let test: String
  }

  let rows: [Row]
  let sources: [String]

  init() throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    let article = tests.deletingLastPathComponent()
      .appendingPathComponent("Sources/Millpond/Millpond.docc/Promises.md")
    rows = Self.rows(in: try String(contentsOf: article, encoding: .utf8))
    let names = FileManager.default.enumerator(atPath: tests.path)?
      .compactMap { $0 as? String }.filter { $0.hasSuffix("Tests.swift") || $0.contains("Tests+") }
    sources = try (names ?? []).map { name in
      try String(contentsOf: tests.appendingPathComponent(name), encoding: .utf8)
    }
  }

  @Test func `every test that the article of promises names exists in its suite`() {
    #expect(rows.count > 80)
    for row in rows {
      let isThere = sources.contains { source in
        ["struct ", "class "].contains { source.contains($0 + row.suite + " ") }
          && source.contains("func `\(row.test)`(")
      }
      #expect(isThere, "\(row.suite): \(row.test)")
    }
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
