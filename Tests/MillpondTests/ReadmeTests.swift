import Foundation
import Testing

@Suite struct ReadmeTests {
  let readme: [String]
  let compiled: [String]

  init() throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let root = tests.deletingLastPathComponent().deletingLastPathComponent()
    readme = try Self.blocks(
      in: root.appendingPathComponent("README.md"), from: "```swift", to: "```")
    compiled = try Self.blocks(
      in: tests.appendingPathComponent("ReadmeSnippets.swift"), from: "// snippet", to: "// end")
  }

  @Test func `every snippet of the README is one that this module compiles`() {
    #expect(readme.count > 8)
    // A paragraph of the README may show two snippets in one block.
    let everything = compiled.joined(separator: "\n\n")
    for block in readme { #expect(compiled.contains(block) || everything.contains(block)) }
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
