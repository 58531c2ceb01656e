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

  @Test(arguments: [
    ["--out", "/none/such.html"], ["--quick"], ["--out"], ["none", "--out", "/none/such.html"],
    ["--json", "--out", "/none/such.html"],
  ])
  func `an impossible request ends with 2, before anything is measured`(arguments: [String]) {
    #expect(bench(["report"] + arguments) == 2)
  }

  @Test(.heavy) func `a family of the bench is on the page, with its table`() throws {
    #expect(bench(["report", "hit-ratio", "--quick", "--out", path]) == 0)

    let page = try String(contentsOfFile: path, encoding: .utf8)
    #expect(page.contains("<section id=\"hit-ratio\">") && page.contains("ours − LRU"))
    #expect(page.contains("A quick run"))
    #expect(page.ranges(of: "<section ").count == 1)
  }

  @Test func `every family has a name and a title of its own`() {
    #expect(Set(ReportFamily.all.map(\.name)).count == ReportFamily.all.count)
    #expect(Set(ReportFamily.all.map(\.title)).count == ReportFamily.all.count)
    #expect(ReportFamily.all.map(\.name).contains("rows"))
  }

  @Test func `a family that fails is on the page with its error, and the others run`() throws {
    let families = [made("one"), failing("two", "no space in <here>"), made("three")]

    #expect(try run(families, isQuick: false, OutputFile(path)) == 1)

    let page = try String(contentsOfFile: path, encoding: .utf8)
    #expect(page.contains("no space in &lt;here&gt;"))
    #expect(page.contains("<section id=\"one\">") && page.contains("<section id=\"three\">"))
    #expect(!page.contains("A quick run"))
  }

  @Test func `a family that is not installed is no failure`() throws {
    let absent = ReportFamily(name: "absent", title: "Absent") { _, _ in
      var result = FamilyResult(failure: "There is no server.")
      result.isRight = true
      return result
    }

    #expect(try run([absent], isQuick: true, OutputFile(path)) == 0)
    #expect(try String(contentsOfFile: path, encoding: .utf8).contains("There is no server."))
  }

  @Test func `a wrong sum is shown, and ends with 1`() throws {
    #expect(try run([made("one", verdict: "WRONG")], isQuick: true, OutputFile(path)) == 1)

    let page = try String(contentsOfFile: path, encoding: .utf8)
    #expect(page.contains("<span class=\"wrong\">WRONG</span>"))
    #expect(page.contains("<small>WRONG: row</small>"))
  }

  @Test(arguments: [true, false])
  func `one row with a wrong sum makes its family wrong`(isSumRight: Bool) throws {
    let row = try #require(NetworkRow.all.first)
    let lines = [true, isSumRight].map {
      NetworkMeasurement(row, NetworkFigures(ours: 1, bare: 2, isSumRight: $0))
    }

    let result = FamilyResult(NetworkTable(for: [row]), lines, isRight: \.isSumRight)

    #expect(result.isRight == isSumRight)
    #expect(result.rows.map { $0.cells.count } == [7, 7] && result.titles.count == 7)
  }

  @Test func `the page is written after each family`() throws {
    let path = path
    let reader = ReportFamily(name: "reader", title: "Reader") { _, _ in
      FamilyResult(failure: try String(contentsOfFile: path, encoding: .utf8).isEmpty ? "0" : "1")
    }

    _ = try run([made("one"), reader], isQuick: true, OutputFile(path))

    #expect(try String(contentsOfFile: path, encoding: .utf8).contains("\"warning\">1</p>"))
  }

  @Test func `the page loads nothing from elsewhere, and says where and with what it was made`() {
    var page = ReportPage(machine: machine, isQuick: false, began: Date(timeIntervalSince1970: 0))
    page.sections = [ReportSection(made("one"), result("<b>&", "met"))]

    let html = page.html
    for source in ["http:", "https:", "src=", "@import", "url(", "<script"] {
      #expect(!html.contains(source))
    }
    #expect(html.contains(MillpondVersion.current) && html.contains("1970-01-01T00:00:00Z"))
    #expect(html.contains("A&amp;B, 2 cores") && html.contains("4.0 GiB"))
    #expect(html.contains("&lt;b&gt;&amp;") && !html.contains("<b>&"))
    #expect(html.contains("1 rows, 1 of 1 targets met"))
  }

  @Test(arguments: [
    (true, 0.1, false), (false, 0.1, true), (false, 1.5, false), (false, nil, true),
  ])
  func `targets are judged only in a full run on a quiet machine`(
    isQuick: Bool, load: Double?, areJudged: Bool
  ) {
    let machine = Machine(
      system: "Linux", processor: nil, coreCount: 2, memoryByteCount: 1, load: load)
    var page = ReportPage(machine: machine, isQuick: isQuick, began: Date())
    page.sections = [
      ReportSection(made("one"), result("row", "missed")),
      ReportSection(made("two"), result("row", "met")),
    ]

    #expect(page.html.contains("1 of 2 targets are met.") == areJudged)
    #expect(page.html.contains(">missed<") == areJudged)
  }

  @Test func `the finding names the families with a wrong sum, however the run was`() {
    var page = ReportPage(machine: machine, isQuick: true, began: Date())
    page.sections = [ReportSection(made("one"), result("row", "WRONG"))]

    #expect(page.html.contains("WRONG: one.") && page.html.contains(">WRONG<"))
  }

  @Test(arguments: [(0.5, "0.5"), (1, "0.5"), (10, "50.0"), (1_000, "100.0")])
  func `a bar shows a multiple on a log scale`(multiple: Double, width: String) {
    var result = result("row", "met")
    result.rows = [.init(cells: ["row", "met"], summary: "", multiple: multiple)]

    let html = ReportSection(made("one"), result).html(areJudged: true)

    #expect(html.contains("width: \(width)%"))
  }

  #if os(Linux)
    @Test func `the processor has the name that the system reports`() {
      #expect(processorName(in: "processor : 0\nmodel name\t: Xeon: fast\n") == "Xeon: fast")
      #expect(processorName(in: "processor : 0\n") == nil)
      #expect(processorName(in: "model name :\n") == nil)
    }
  #endif

  private let machine = Machine(
    system: "Linux", processor: "A&B", coreCount: 2, memoryByteCount: 4 << 30, load: nil)

  private func made(_ name: String, verdict: String = "met") -> ReportFamily {
    let result = result("row", verdict)
    return ReportFamily(name: name, title: name) { _, report in
      report("row", 1)
      return result
    }
  }

  private func failing(_ name: String, _ reason: String) -> ReportFamily {
    ReportFamily(name: name, title: name) { _, _ in
      throw OutputError(path: "/x", reason: reason)
    }
  }

  private func result(_ name: String, _ verdict: String) -> FamilyResult {
    var result = FamilyResult(legend: "legend", titles: ["row", ""], leftAligned: [0, 1])
    result.rows = [.init(cells: [name, verdict], summary: "a row")]
    result.isRight = verdict != "WRONG"
    return result
  }
}
