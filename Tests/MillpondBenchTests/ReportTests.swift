import Foundation
import Millpond
import TestTraits
import Testing

@testable import MillpondBench

@Suite final class ReportTests {
  private let scene: WorkFolderScene
  private var path: String { scene.workFolder.path + "/bench.html" }

  init() throws {
    scene = try WorkFolderScene()
  }

  @Test(arguments: [["--out", "/none/such.html"], ["none", "--out", "/none/such.html"]])
  func `an impossible request ends with 2, before anything is measured`(arguments: [String]) {
    #expect(bench(["report"] + arguments) == 2)
  }

  @Test(.heavy) func `a group of the bench is on the page, with its rows`() throws {
    #expect(bench(["report", "hit-ratio", "--quick", "--out", path]) == 0)

    let page = try String(contentsOfFile: path, encoding: .utf8)
    #expect(page.contains("<section id=\"hit-ratio\">") && page.contains("hit-ratio-loop-10%"))
    #expect(page.contains("A quick run"))
    #expect(page.ranges(of: "<section ").count == 1)
  }

  @Test func `the page loads nothing from elsewhere, and says with what it was made`() {
    var page = ReportPage(isQuick: false, load: 0.1, began: Date(timeIntervalSince1970: 0))
    page.groups = [group(1, name: "<b>&")]

    let html = page.html
    for source in ["http:", "https:", "src=", "@import", "url(", "<script"] {
      #expect(!html.contains(source))
    }
    #expect(html.contains(MillpondVersion.current) && html.contains("1970-01-01T00:00:00Z"))
    #expect(html.contains("&lt;b&gt;&amp;") && !html.contains("<b>&"))
    #expect(html.contains("a group: 1 of 1 targets are met"))
  }

  @Test(arguments: [
    (true, 0.1, false), (false, 0.1, true), (false, 1.5, false), (false, nil, true),
  ])
  func `targets are judged only in a full run on a quiet machine`(
    isQuick: Bool, load: Double?, isJudged: Bool
  ) {
    var page = ReportPage(isQuick: isQuick, load: load)
    page.groups = [group(2), group(1)]

    #expect(page.html.contains("1 of 2 targets are met.") == isJudged)
    #expect(page.html.contains(">missed<") == isJudged)
  }

  @Test func `the finding names what is wrong, however the run was`() {
    var page = ReportPage(isQuick: true)
    page.groups = [group(1, isSumRight: false)]

    #expect(page.html.contains("<b class=\"wrong\">WRONG: row.</b>"))
    #expect(page.html.contains("<td class=\"wrong\">WRONG</td>"))
  }

  @Test(arguments: [(0.5, "0.5"), (1, "0.5"), (10, "50.0"), (1_000, "100.0")])
  func `a bar shows a multiple on a log scale`(multiple: Double, width: String) {
    var page = ReportPage(isQuick: false)
    page.groups = [group(multiple)]

    #expect(page.html.contains("width: \(width)%"))
  }

  private func group(_ value: Double, name: String = "row", isSumRight: Bool = true) -> Group {
    let sample = Sample(
      name: name, summary: name, unit: "ns", value: value,
      floors: [Sample.Floor(name: "floor", value: 1)], targets: [Target(atMost: 1)],
      isSumRight: isSumRight)
    return Group(name: "a group", summary: "", rows: [], samples: [sample])
  }
}
