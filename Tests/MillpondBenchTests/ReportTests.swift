import Foundation
import Millpond
import TestTraits
import Testing

@testable import MillpondBench

@Suite final class ReportTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  private var path: String { folder.appending(path: "bench.html").path() }

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
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

  @Test func `a row that fails is on the page with its error, and the others run`() throws {
    let broken = group(
      "two", Row("broken", "") { _, _ in throw FileTrouble(path: "<x>", reason: "y") })

    #expect(try report([group("one"), broken, group("three")], to: path) == 1)

    let page = try String(contentsOfFile: path, encoding: .utf8)
    #expect(page.contains("&lt;x&gt;: y") && page.contains("WRONG: broken"))
    #expect(page.contains("<section id=\"one\">") && page.contains("<section id=\"three\">"))
  }

  @Test func `what is not installed is no failure`() throws {
    let absent = group("a", Row("absent", "") { _, _ in throw Absence(description: "no server") })

    #expect(try report([absent], to: path) == 0)
    #expect(try String(contentsOfFile: path, encoding: .utf8).contains("no server"))
  }

  @Test func `the page is written after each group`() throws {
    let path = path
    let reader = Row("reader", "") { _, sample in
      let isEmpty = try String(contentsOfFile: path, encoding: .utf8).isEmpty
      sample.note = isEmpty ? "nothing" : "a page so far"
    }

    _ = try report([group("one"), group("two", reader)], to: path)

    #expect(try String(contentsOfFile: path, encoding: .utf8).contains("a page so far"))
  }

  @Test func `the page loads nothing from elsewhere, and says where and with what it was made`() {
    var page = page(isQuick: false)
    page.sections = [section(value: 1, name: "<b>&")]

    let html = page.html
    for source in ["http:", "https:", "src=", "@import", "url(", "<script"] {
      #expect(!html.contains(source))
    }
    #expect(html.contains(MillpondVersion.current) && html.contains("1970-01-01T00:00:00Z"))
    #expect(html.contains("A&amp;B, 2 cores") && html.contains("4.0 GiB"))
    #expect(html.contains("&lt;b&gt;&amp;") && !html.contains("<b>&"))
    #expect(html.contains("1 figures, 1 of 1 targets met"))
  }

  @Test(arguments: [
    (true, 0.1, false), (false, 0.1, true), (false, 1.5, false), (false, nil, true),
  ])
  func `targets are judged only in a full run on a quiet machine`(
    isQuick: Bool, load: Double?, isJudged: Bool
  ) {
    var page = page(isQuick: isQuick, load: load)
    page.sections = [section(value: 2), section(value: 1)]

    #expect(page.html.contains("1 of 2 targets are met.") == isJudged)
    #expect(page.html.contains(">missed<") == isJudged)
  }

  @Test func `the finding names what is wrong, however the run was`() {
    var page = page(isQuick: true)
    page.sections = [section(value: 1, isSumRight: false)]

    #expect(page.html.contains("<b class=\"wrong\">WRONG: row.</b>"))
    #expect(page.html.contains("<td class=\"wrong\">WRONG</td>"))
  }

  @Test(arguments: [(0.5, "0.5"), (1, "0.5"), (10, "50.0"), (1_000, "100.0")])
  func `a bar shows a multiple on a log scale`(multiple: Double, width: String) {
    var page = page(isQuick: false)
    page.sections = [section(value: multiple)]

    #expect(page.html.contains("width: \(width)%"))
  }

  private func report(_ groups: [Group], to path: String) throws -> Int32 {
    let run = Run(isQuick: true, folder: try WorkFolder(in: folder.path()))
    return try MillpondBench.report(groups, run, to: OutputFile(path))
  }

  private func group(_ name: String, _ row: Row = Row("row", "a row") { $1.value = 1 }) -> Group {
    Group(name: name, title: name, summary: "", rows: [row])
  }

  private func page(isQuick: Bool, load: Double? = nil) -> ReportPage {
    let machine = Machine(
      system: "Linux", processor: "A&B", coreCount: 2, memoryByteCount: 4 << 30, load: load)
    return ReportPage(
      machine: machine, isQuick: isQuick, began: Date(timeIntervalSince1970: 0))
  }

  private func section(
    value: Double, name: String = "row", isSumRight: Bool = true
  ) -> ReportSection {
    let sample = Sample(
      name: name, summary: name, unit: "ns", value: value,
      floors: [Sample.Floor(name: "floor", value: 1)], targets: [Target(atMost: 1)],
      isSumRight: isSumRight)
    return ReportSection(name: "one", title: "One", samples: [sample])
  }
}
