import Foundation
import MillpondCore
import Testing

@testable import MillpondBench

@Suite struct HitRatioRowTests {
  @Test func `generated workloads are the same every time, and about as long as asked for`() {
    var (one, other) = (WorkloadGenerator(length: 20_000), WorkloadGenerator(length: 20_000))

    let workloads = one.all()
    #expect(workloads.map(\.keys) == other.all().map(\.keys))
    #expect(Set(workloads.map(\.name)).count == workloads.count)
    #expect(workloads.allSatisfy { (19_900...20_000).contains($0.keys.count) })
  }

  @Test func `the more uneven the demand, the more hits`() {
    var generator = WorkloadGenerator(length: 20_000)
    let workloads = generator.all()

    let hits = ["uniform", "zipf-0.8", "zipf-0.99"].compactMap { name in
      workloads.first { $0.name == name }?.hitRatio(.leastRecentlyUsed, 200)
    }

    #expect(hits.count == 3 && 1.2 * hits[0] < hits[1] && 1.2 * hits[1] < hits[2])
  }

  @Test func `a get of what was set is a hit, as long as there is room`() {
    let workload = Workload(name: "", keys: [1, 2, 3, 1, 2, 3, 1, 2, 3, 3])

    #expect(workload.hitRatio(.leastRecentlyUsed, 3) == 70)
    #expect(workload.hitRatio(.leastRecentlyUsed, 2) == 10)
  }

  @Test func `a workload with many places weighs no more than one with few`() {
    let sample = hitRatioGain([[(1, 10), (2, 20), (3, 30)], [(12, 40)], []])

    #expect(sample.value == 7)
    #expect(sample.floor("optimum") == 30)
  }

  @Test(arguments: [(5.5, "met"), (5.4, "missed")])
  func `a mean gain is met by what reaches its target`(gain: Double, verdict: String) {
    #expect(hitRatioGain([[(gain, 50)]]).verdict.rawValue == verdict)
  }

  @Test func `without places that count there is no verdict`() {
    #expect(hitRatioGain([[]]).verdict == .none)
  }

  @Test func `a trace is read as keys, little-endian, and one that is cut or empty is an error`()
    throws
  {
    let scene = try WorkFolderScene()
    let file = URL(filePath: scene.workFolder.path + "/a.u64")

    try Data([1, 2, 0, 0, 0, 0, 0, 0, 0xFF, 0, 0, 0, 0, 0, 0, 0x80]).write(to: file)
    #expect(try Workload(traceAt: file).keys == [0x0201, 0x8000_0000_0000_00FF])
    #expect(try Workload(traceAt: file).name == "a")
    for count in [0, 15] {
      try Data(count: count).write(to: file)
      #expect(throws: Trouble.self) { try Workload(traceAt: file) }
    }
  }
}
