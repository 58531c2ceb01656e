import Foundation
import MillpondCore
import Testing

@testable import Millpond

@Suite struct WriteQueueTests {
  private var queue = WriteQueue()

  @Test mutating func `the writer takes a few writes at a time, in order, whatever their size`() {
    let count = 2 * WriteQueue.stepSize + 1
    for number in 0..<count {
      var consequence = DiskIndex.Consequence()
      queue.append(IndexScene.write("\(number)"), &consequence)
    }
    var taken: [[String]] = []
    while case .writes(let writes) = queue.take(limit: .max) { taken.append(writes.map(\.key)) }

    #expect(taken.map(\.count) == [WriteQueue.stepSize, WriteQueue.stepSize, 1])
    #expect(WriteQueue.stepSize <= 1_024)
    #expect(taken.joined().elementsEqual((0..<count).map { "\($0)" }))
    #expect(queue.waitingBytes == 0)
    let rests = queue.rest()
    #expect(rests)
  }

  @Test mutating func `writes that are replaced are passed over a few at a time, and none is lost`()
  {
    var last: DiskWrite?
    for _ in 0..<2 * WriteQueue.stepSize {
      var consequence = DiskIndex.Consequence()
      consequence.superseded = last
      let write = IndexScene.write("a")
      queue.append(write, &consequence)
      last = write
    }

    if case nil = queue.take(limit: .max) {} else { Issue.record("taken in one step") }
    let rests = queue.rest()
    #expect(!rests)
    guard case .writes(let writes) = queue.take(limit: .max) else {
      Issue.record("nothing is taken")
      return
    }
    #expect(writes.count == 1 && writes.first === last)
    #expect(writes.first?.superseded.count == 2 * WriteQueue.stepSize - 1)
  }
}
