import Foundation
import Millpond
import Testing

/// The version has one number, in the code; the article about changes has it as its newest heading.
@Suite struct VersionTests {
  @Test func `the version is a semantic one`() {
    let semantic = /(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?/

    #expect(MillpondVersion.current.wholeMatch(of: semantic) != nil)
  }

  @Test func `the newest changes are those of this version`() throws {
    let page = SnippetTests.root.appendingPathComponent("\(SnippetTests.articles)/WhatIsNew.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let headings = text.matches(of: /(?m)^## (\d\S*?),? .*$|^## (\d\S*)$/).map {
      String($0.1 ?? $0.2 ?? "")
    }

    #expect(headings.first == MillpondVersion.current)
    #expect(Set(headings).count == headings.count)
  }
}
