import Foundation
import Testing

/// Holds the article of promises against the test sources.
@Suite struct PromisesArticleTests {
  struct Row {
    let suite: String
    let test: String
  }

  let rows: [Row]

  /// The names of the tests in the files that declare a suite, or extend it.
  let tests: [String: Set<String>]

  init() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    let article = folder.deletingLastPathComponent()
      .appendingPathComponent("Sources/Millpond/Millpond.docc/Promises.md")
    rows = Self.rows(in: try String(contentsOf: article, encoding: .utf8))
    let names = FileManager.default.enumerator(atPath: folder.path)?
      .compactMap { $0 as? String }.filter { $0.hasSuffix("Tests.swift") || $0.contains("Tests+") }
    var tests: [String: Set<String>] = [:]
    for name in names ?? [] {
      let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      let named = text.components(separatedBy: "func `").dropFirst().map { rest in
        String(rest.prefix { $0 != "`" })
      }
      for suite in Self.types(in: text) { tests[suite, default: []].formUnion(named) }
    }
    self.tests = tests
  }

  @Test func `every test that the article of promises names exists in its suite`() {
    #expect(rows.count > 80)
    for row in rows {
      #expect(tests[row.suite]?.contains(row.test) == true, "\(row.suite): \(row.test)")
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
