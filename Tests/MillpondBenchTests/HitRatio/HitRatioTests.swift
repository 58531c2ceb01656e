import Foundation
import Testing

@testable import MillpondBench

@Suite struct HitRatioTests {
  @Test(arguments: [["--traces", "/none/such"], ["--list"]])
  func `an impossible request ends with 2`(arguments: [String]) {
    #expect(bench(["hit-ratio"] + arguments) == 2)
  }

  @Test func `the document has every cell, and what they come to`() throws {
    let trace = Trace.random(seed: 1, length: 3_000, keys: 300).unsized
    let document = HitRatioDocument(cells: HitRatioComparison(trace).cells(at: [50]))

    let read = try JSONSerialization.jsonObject(with: Data(try document.encoded().utf8))
    let content = try #require(read as? [String: Any])
    let cells = try #require(content["cells"] as? [[String: Any]])
    #expect(cells.map { $0["trace"] as? String } == ["random"])
    #expect(cells.map { $0["capacity"] as? Int } == [150])
    #expect((content["summary"] as? [String: Any])?["cellCount"] as? Int == 1)
  }
}
